import { explanationOf, pathOf, type Report } from './faults.ts'
import type { FileConfig } from './file-config.ts'
import { fromSchema } from './from-schema.ts'
import { checkCarrier } from './rules/sip-rules.ts'
import { carrier } from './schema/carrier-schema.ts'
import type { CarrierConfig } from './types.ts'
import { describeAll, validatorOf } from './validate.ts'

const {
  project: _project,
  tls: _tls,
  domain: _domain,
  responsePort: _responsePort,
  ...properties
} = carrier.properties

/**
 * Schema of a carrier that a project creates over the API. It lacks the project, certificate files, the
 * domain of `tel:` calls and the response port. With either of the last two, a project could receive or break
 * calls of another project's carrier.
 */
export const carrierEntrySchema = { ...carrier, properties }

const errorsOf = validatorOf(carrierEntrySchema)

/** Fault of an entry: the dotted path of the key, and what is expected there. */
export interface EntryFault {
  readonly path: string
  readonly message: string
}

/**
 * Checks an entry by the rules of the configuration file and adds its defaults. Reports every fault, without
 * the values, which may be secret.
 */
export const readCarrierEntry = (
  entry: unknown,
): { readonly carrier: CarrierConfig } | { readonly faults: readonly EntryFault[] } => {
  const faults: EntryFault[] = []
  const report: Report = (keys, message, details) => {
    faults.push({ path: pathOf(keys), message: explanationOf({ message, hint: details?.hint }) })
  }
  const filled = structuredClone(entry)
  const errors = errorsOf(filled)
  if (errors.length === 0) checkCarrier(filled as FileConfig['carriers'][number], report)
  else describeAll(errors, report)
  if (faults.length > 0) return { faults }
  // The folder is irrelevant, because an entry contains no file paths.
  return { carrier: { ...fromSchema(filled, carrierEntrySchema, ''), tls: withoutFiles } }
}

const withoutFiles: CarrierConfig['tls'] = { verify: true, alpn: [] }
