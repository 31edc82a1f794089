import type { FastifyError } from 'fastify'
import { didYouMean } from '../../../handlers/common/spelling.ts'
import { type Code, catalogue, codeOf, messageOf, TrunklineError } from '../../core/errors/catalogue.ts'

/** One fault of a request. */
export interface FieldFault {
  readonly code: Code
  readonly message: string
  /** Path of the invalid field, with dots; null if the fault is not about one field. */
  readonly attribute: string | null
}

/** Faults of a request. The inherited fields are those of the first fault. */
export interface RequestFault extends FieldFault {
  /** HTTP status. */
  readonly status: number
  /** At least one fault; several only for missing and invalid fields. */
  readonly all: readonly FieldFault[]
}

/** Function that returns the body of an error response in the format of one `ApiFamily`. */
export type ErrorBody = (fault: RequestFault & LinkBase) => object

/** Start of the links in a response. */
export interface LinkBase {
  /** Scheme and host of the request; empty for links without a host. */
  readonly base: string
}

type RequestError = FastifyError | TrunklineError

/**
 * Returns the faults that an error reports: an error of the gateway, of schema validation, or of Fastify.
 * Details of unexpected errors are withheld.
 */
export const faultOf = (error: RequestError): RequestFault => {
  if (error instanceof TrunklineError) return faultFor(error.code, messageOf(error), attributeOf(error))
  if (error.validation && error.validationContext !== 'params')
    return several(fieldFaults(error.validation as readonly SchemaFault[]))
  // A malformed id is an unknown resource.
  if (error.validation || error.code === 'FST_ERR_MAX_PARAM_LENGTH') return faultFor('unknown_resource')
  // Fastify forbids paths that no file can have, such as `/docs//x`.
  if (error.statusCode === 403) return faultFor('not_found')
  const status = error.statusCode ?? 500
  if (status < 400 || status >= 500) return faultFor(codeOf(error))
  const code = codeOfStatus[status] ?? 'bad_request'
  // Fastify's message for an unsupported media type does not name the supported types.
  return { ...(code === 'unsupported_media_type' ? faultFor(code) : faultFor(code, error.message)), status }
}

/** Returns the fault for an error code. `message`: default the text of the error catalogue. */
export const faultFor = (
  code: Code,
  message: string = catalogue[code].text,
  attribute: string | null = null,
): RequestFault => {
  // Messages of unexpected errors are for the log only.
  const fault = { code, message: code === 'internal' ? catalogue.internal.text : message, attribute }
  const isField = attribute !== null && calledFields.has(attribute) && isDestinationFault(code)
  return { status: catalogue[isField ? 'invalid_field' : code].http, ...fault, all: [fault] }
}

/** Fields with the destination of a call. */
const calledFields: ReadonlySet<string> = new Set(['to', 'To', 'dest'])

const destinationFaults: ReadonlySet<Code> = new Set<Code>(['unknown_address', 'no_carrier'])

/**
 * Whether a code says that a destination cannot be called. For the destination of a call in a field, the
 * response has the status of an invalid field: the path of the request exists.
 */
export const isDestinationFault = (code: Code): boolean => destinationFaults.has(code)

const codeOfStatus: Readonly<Partial<Record<number, Code>>> = {
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'body_too_large',
  415: 'unsupported_media_type',
  429: 'too_many_requests',
}

const attributeOf = ({ facts }: TrunklineError): string | null =>
  typeof facts.attribute === 'string' ? facts.attribute : null

/** Validation error of ajv. */
interface SchemaFault {
  readonly keyword: string
  readonly instancePath: string
  readonly message?: string
  readonly params: Readonly<Record<string, unknown>>
  /** The schema that holds the keyword. */
  readonly parentSchema?: { readonly description?: string; readonly properties?: object }
  /** The faulty value. */
  readonly data?: unknown
}

/**
 * Returns the message of an unknown field. `suggestion`: sentence with a leading blank, or empty.
 */
export const unknownField = (name: string, suggestion: string): string =>
  `Unknown field \`${name}\`.${suggestion}`

/** Returns the message of a value that is none of the permitted ones, with the most similar one first. */
const unknownChoice = (named: string, data: unknown, choices: readonly string[]): string => {
  const near = typeof data === 'string' ? didYouMean(data, choices) : ''
  const all = `${near === '' ? `${named} must be` : 'It must be'} one of: ${choices.join(', ')}.`
  return near === '' ? all : `Unknown ${named} \`${String(data).slice(0, 100)}\`.${near} ${all}`
}

/** Returns a sentence without its full stop, for use inside another sentence. */
const plainEnd = (sentence: string): string => sentence.trim().replace(/\.$/, '')

const several = (all: readonly FieldFault[]): RequestFault => {
  const first = all[0] ?? {
    code: 'bad_request' as const,
    message: catalogue.bad_request.text,
    attribute: null,
  }
  return { ...first, status: catalogue[first.code].http, all: [first, ...all.slice(1)] }
}

/** Maximum number of faults in one response. */
const maxFaults = 20
/** Maximum number of validation errors that are read. A body of 512 KB can cause more than 100,000. */
const maxRead = 1000

/**
 * Returns the faults for validation errors, one for each code and field. Omits the errors of the keyword
 * `if`: they only repeat that a `then` or `else` schema does not match.
 */
const fieldFaults = (found: readonly SchemaFault[]): FieldFault[] => {
  const faults = found
    .slice(0, maxRead)
    .filter(({ keyword }) => keyword !== 'if')
    .map(fieldFault)
  const known = new Map(faults.map((fault) => [`${fault.code} ${fault.attribute}`, fault]))
  return [...known.values()].slice(0, maxFaults)
}

const fieldFault = ({
  keyword,
  instancePath,
  message = '',
  params,
  parentSchema,
  data,
}: SchemaFault): FieldFault => {
  const path = instancePath.slice(1).replaceAll('/', '.')
  const within = (name: unknown): string => (path === '' ? '' : `${path}.`) + String(name).slice(0, 100)
  if (keyword === 'required') {
    const attribute = within(params.missingProperty)
    return { code: 'missing_required_parameter', message: `${attribute} is missing.`, attribute }
  }
  if (keyword === 'additionalProperties') {
    const attribute = within(params.additionalProperty)
    const name = String(params.additionalProperty).slice(0, 100)
    const message = unknownField(attribute, didYouMean(name, Object.keys(parentSchema?.properties ?? {})))
    return { code: 'unknown_parameter', message, attribute }
  }
  const named = path === '' ? 'The request' : path
  if (keyword === 'pattern') {
    // The description of the field is clearer than its pattern.
    const expected = parentSchema?.description
    const text = `${named} does not have the expected form${expected ? `: ${plainEnd(expected)}` : ''}.`
    return { code: 'invalid_field', message: text, attribute: path === '' ? null : path }
  }
  const text = Array.isArray(params.allowedValues)
    ? unknownChoice(named, data, params.allowedValues.map(String))
    : `${named} ${message}.`
  return { code: 'invalid_field', message: text, attribute: path === '' ? null : path }
}
