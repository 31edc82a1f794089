import { DocumentPlaces } from '../../config/document-places.ts'
import type { Environment } from '../../config/environment.ts'
import {
  type ConfigFault,
  ConfigInvalid,
  describeFault,
  type FaultDetails,
  inOrder,
  type Keys,
} from '../../config/faults.ts'
import { loadConfig } from '../../config/load.ts'
import { warningsOf } from '../../config/rules/warnings.ts'
import type { Config, DocumentHandlerConfig } from '../../config/types.ts'
import { readAgent } from '../../handlers/agent/document.ts'
import type { AgentFault } from '../../handlers/agent/document-types.ts'
import type { DocumentFault } from '../../handlers/handler.ts'
import { checkDocument } from '../../handlers/reading/check-document.ts'
import { type Clock, SystemClock } from '../core/clock.ts'
import { checkAddresses } from './address-check.ts'
import { checkFiles } from './file-check.ts'

/** Returns the faults of the files and folders that a configuration names, as a start uses them. */
export const checkNamedFiles = (
  config: Config,
  places: DocumentPlaces,
  clock: Pick<Clock, 'now'> = new SystemClock(),
): readonly ConfigFault[] => {
  const faults: ConfigFault[] = []
  checkFiles(config, clock.now(), (keys, message, details) => {
    faults.push(places.at(keys, message, details))
  })
  return faults
}

/** Result of {@link checkFile}. */
export interface CheckReport {
  /** Errors and warnings, in the order of the file. */
  readonly faults: readonly ConfigFault[]
  /** The configuration; undefined if there is an error. */
  readonly config?: Config
}

/** Checks a configuration file with everything in it, and starts nothing. */
export const checkFile = (file: string, env?: Environment, clock?: Pick<Clock, 'now'>): CheckReport => {
  try {
    const config = loadConfig(file, env)
    const places = new DocumentPlaces(file, env)
    const faults = inOrder([
      ...checkContents(config, places),
      ...checkNamedFiles(config, places, clock),
      ...checkAddresses(config, places),
    ])
    return faults.some(({ severity }) => severity === 'error') ? { faults } : { faults, config }
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error
    return { faults: error.faults }
  }
}

/**
 * Checks the documents inside a configuration as their handlers do, and returns their faults. Documents
 * behind URLs are not fetched.
 */
export const checkDocuments = (
  config: Pick<Config, 'domains' | 'endpoints' | 'resources'>,
  places: DocumentPlaces,
): readonly ConfigFault[] =>
  (['domains', 'endpoints', 'resources'] as const).flatMap((list) =>
    config[list].flatMap(({ handler }, i) =>
      !handler || handler.kind === 'realtime' || handler.document === undefined
        ? []
        : faultsOf(handler, [list, i, 'handler'], places),
    ),
  )

/** Returns a warning for each setting that works but is dangerous or pointless. */
export const checkSettings = (config: Config, places: DocumentPlaces): readonly ConfigFault[] => [
  ...warningsOf(config).map(({ keys, message, details }) =>
    places.at(keys, message, { code: 'questionable', ...details, severity: 'warning' }),
  ),
  ...checkPurpose(config, places),
]

/** Returns the faults and warnings of a valid configuration's documents and settings, each place once. */
export const checkContents = (config: Config, places: DocumentPlaces): readonly ConfigFault[] =>
  inOrder([...checkDocuments(config, places), ...checkSettings(config, places)])

/** Returns the lines about settings and documents of a configuration, as a start logs them. */
export const configWarnings = (config: Config, file: string): readonly string[] =>
  checkContents(config, new DocumentPlaces(file)).map(describeFault)

/** Warns of a file without anything that calls could reach. */
const checkPurpose = (
  { domains, subscribers, endpoints, resources }: Config,
  places: DocumentPlaces,
): readonly ConfigFault[] => {
  if ([domains, subscribers, endpoints, resources].some(({ length }) => length > 0)) return []
  const message = 'the gateway has nothing to do: no domains, no subscribers, no endpoints, no resources'
  const details = { code: 'nothing-to-do', severity: 'warning', part: 'key' } as const
  return [places.at([], message, details)]
}

const faultsOf = (
  handler: DocumentHandlerConfig,
  keys: Keys,
  places: DocumentPlaces,
): readonly ConfigFault[] => {
  if (handler.kind === 'agent') return agentFaults(handler, keys, places)
  const { errors, warnings } = checkDocument(handler.kind, handler.document ?? '')
  const placed = (severity: ConfigFault['severity']) => (fault: DocumentFault) =>
    places.fault(handler, keys, fault, fault.message, { code: fault.code, severity })
  return [...errors.map(placed('error')), ...warnings.map(placed('warning'))]
}

const agentFaults = (
  handler: DocumentHandlerConfig,
  keys: Keys,
  places: DocumentPlaces,
): readonly ConfigFault[] => {
  // The loader has made the document an object in JSON.
  const { faults, warnings } = readAgent(JSON.parse(handler.document ?? '{}'))
  const placed = (details: FaultDetails) => (fault: AgentFault) =>
    places.fault(handler, keys, fault, fault.message, details)
  return [
    ...faults.map(placed({ code: 'document-faulty' })),
    ...warnings.map(placed({ code: 'questionable', severity: 'warning' })),
  ]
}
