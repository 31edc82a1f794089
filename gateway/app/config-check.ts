import { DocumentPlaces } from '../../config/document-places.ts'
import { describeFault, type Keys } from '../../config/faults.ts'
import type { Config, ConfigFault, DocumentHandlerConfig } from '../../config/types.ts'
import { warningsOf } from '../../config/warnings.ts'
import { checkDocument } from '../../handlers/check.ts'
import type { DocumentFault } from '../../handlers/handler.ts'
import type { socketKind } from '../../media/edge/sockets-open.ts'

/** What `trunkline check` found. */
export interface CheckReport {
  /** Lines for a person, in the order of the file. */
  readonly lines: readonly string[]
  /** Whether any of them keeps a document from running. */
  readonly valid: boolean
}

/**
 * Checks the documents that stand in a configuration, as their handlers would. Documents behind URLs are not
 * fetched.
 */
export const checkDocuments = (
  config: Pick<Config, 'domains' | 'endpoints' | 'resources'>,
  places: DocumentPlaces,
): CheckReport => {
  const reports = (['domains', 'endpoints', 'resources'] as const).flatMap((list) =>
    config[list].map(({ handler }, i) =>
      !handler || handler.kind === 'realtime' || handler.document === undefined
        ? nothing
        : report(handler, [list, i, 'handler'], places),
    ),
  )
  // A handler that several domains share by an alias is checked for each of them, and its faults are told
  // once.
  const faults = new Map<string, ConfigFault>()
  for (const fault of reports.flatMap((r) => r.faults)) {
    const { file, line, column, message } = fault
    const place = `${file}:${line}:${column} ${message}`
    if (!faults.has(place)) faults.set(place, fault)
  }
  return { lines: [...faults.values()].map(describeFault), valid: reports.every((r) => r.valid) }
}

/** Lines about settings that work, but are dangerous or pointless. */
export const checkSettings = (config: Config, places: DocumentPlaces): readonly string[] =>
  warningsOf(config).map(({ keys, message }) => describeFault(places.at(keys, `warning: ${message}`)))

/** Lines about the settings and documents of a configuration, as a start logs them. */
export const configWarnings = (config: Config, file: string): readonly string[] => {
  const places = new DocumentPlaces(file)
  return [...checkDocuments(config, places).lines, ...checkSettings(config, places)]
}

/**
 * A line about the sockets of the media threads, as {@link socketKind} found them: calls go through either,
 * at a different cost.
 */
export const describeSockets = ({ kind, reason }: ReturnType<typeof socketKind>): string =>
  kind === 'native'
    ? 'Media threads: native sockets.'
    : `Media threads: Node's own sockets, as the native ones cannot be loaded (${reason}); scripts/worker builds them.`

interface DocumentReport {
  readonly faults: readonly ConfigFault[]
  readonly valid: boolean
}

const nothing: DocumentReport = { faults: [], valid: true }

const report = (handler: DocumentHandlerConfig, keys: Keys, places: DocumentPlaces): DocumentReport => {
  const { errors, warnings } = checkDocument(handler.kind, handler.document ?? '')
  const placed = (what: string) => (fault: DocumentFault) =>
    places.fault(handler, keys, fault, `${what}: ${fault.message} [${fault.code}]`)
  return {
    faults: [...errors.map(placed('error')), ...warnings.map(placed('warning'))],
    valid: errors.length === 0,
  }
}
