import { DocumentPlaces } from '../../config/document-places.ts'
import { type ConfigFault, describeFault, type Keys } from '../../config/faults.ts'
import { warningsOf } from '../../config/rules/warnings.ts'
import type { Config, DocumentHandlerConfig } from '../../config/types.ts'
import type { DocumentFault } from '../../handlers/handler.ts'
import { checkDocument } from '../../handlers/reading/check-document.ts'
import type { socketKind } from '../../media/edge/sockets-open.ts'

/** Findings of `trunkline check`. */
export interface CheckReport {
  /** One line for each finding, in the order of the file. */
  readonly lines: readonly string[]
  /** Whether every document can run. */
  readonly valid: boolean
}

/**
 * Checks the documents inside a configuration as their handlers do. Documents behind URLs are not fetched.
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
  // Domains may share a handler by a YAML alias; each of its faults is reported once.
  const faults = new Map<string, ConfigFault>()
  for (const fault of reports.flatMap((r) => r.faults)) {
    const { file, line, column, message } = fault
    const place = `${file}:${line}:${column} ${message}`
    if (!faults.has(place)) faults.set(place, fault)
  }
  return { lines: [...faults.values()].map(describeFault), valid: reports.every((r) => r.valid) }
}

/** Returns a line for each setting that works but is dangerous or pointless. */
export const checkSettings = (config: Config, places: DocumentPlaces): readonly string[] =>
  warningsOf(config).map(({ keys, message }) => describeFault(places.at(keys, `warning: ${message}`)))

/** Returns the lines about settings and documents of a configuration, as a start logs them. */
export const configWarnings = (config: Config, file: string): readonly string[] => {
  const places = new DocumentPlaces(file)
  return [...checkDocuments(config, places).lines, ...checkSettings(config, places)]
}

/**
 * Returns a line about the kind of media sockets that {@link socketKind} found. Calls work with either kind,
 * at a different cost.
 */
export const describeSockets = ({ kind, reason }: ReturnType<typeof socketKind>): string =>
  kind === 'native'
    ? 'Media threads: native sockets.'
    : `Media threads: Node's own sockets. The native ones were not loaded (${reason}); ` +
      'scripts/worker builds them.'

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
