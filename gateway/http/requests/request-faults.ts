import type { FastifyError } from 'fastify'
import { type Code, catalogue, codeOf, messageOf, TrunklineError } from '../../core/errors/catalogue.ts'

/** One thing that is wrong with a request. */
export interface FieldFault {
  readonly code: Code
  readonly message: string
  /** The field at fault, dotted; null when it is none of one field. */
  readonly attribute: string | null
}

/** What an error of a request comes to: its first fault, and all of them. */
export interface RequestFault extends FieldFault {
  /** Of HTTP. */
  readonly status: number
  /** At least one; several only where fields are missing or wrong. */
  readonly all: readonly FieldFault[]
}

/** Makes the body of an error, in the shape of one family of the API. */
export type ErrorBody = (fault: RequestFault & LinkBase) => object

/** Begin of the links of an answer: scheme and host, or nothing. */
export interface LinkBase {
  readonly base: string
}

type RequestError = FastifyError | TrunklineError

/** Reads an error of ours, of the schemas, of Fastify, or an unforeseen one, of which nothing is told. */
export const faultOf = (error: RequestError): RequestFault => {
  if (error instanceof TrunklineError) return faultFor(error.code, messageOf(error), attributeOf(error))
  if (error.validation && error.validationContext !== 'params')
    return several(fieldFaults(error.validation as readonly SchemaFault[]))
  // An id that cannot be one is the id of nothing.
  if (error.validation || error.code === 'FST_ERR_MAX_PARAM_LENGTH') return faultFor('unknown_resource')
  const status = error.statusCode ?? 500
  if (status < 400 || status >= 500) return faultFor(codeOf(error))
  const code = codeOfStatus[status] ?? 'bad_request'
  // Fastify does not say which types are taken.
  return { ...(code === 'unsupported_media_type' ? faultFor(code) : faultFor(code, error.message)), status }
}

/** The fault that a code means; the message is by default that of the catalogue. */
export const faultFor = (
  code: Code,
  message: string = catalogue[code].text,
  attribute: string | null = null,
): RequestFault => {
  // Whatever is unforeseen has a message for us alone.
  const fault = { code, message: code === 'internal' ? catalogue.internal.text : message, attribute }
  return { status: catalogue[code].http, ...fault, all: [fault] }
}

const codeOfStatus: Readonly<Partial<Record<number, Code>>> = {
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'body_too_large',
  415: 'unsupported_media_type',
  429: 'too_many_requests',
}

const attributeOf = ({ facts }: TrunklineError): string | null =>
  typeof facts.attribute === 'string' ? facts.attribute : null

/** What ajv says of one fault. */
interface SchemaFault {
  readonly keyword: string
  readonly instancePath: string
  readonly message?: string
  readonly params: Readonly<Record<string, unknown>>
  /** The schema that holds the keyword. */
  readonly parentSchema?: { readonly description?: string }
}

/** A sentence that stands within another one. */
const plainEnd = (sentence: string): string => sentence.trim().replace(/\.$/, '')

const several = (all: readonly FieldFault[]): RequestFault => {
  const first = all[0] ?? {
    code: 'bad_request' as const,
    message: catalogue.bad_request.text,
    attribute: null,
  }
  return { ...first, status: catalogue[first.code].http, all: [first, ...all.slice(1)] }
}

/** So many faults are told of one request. */
const maxFaults = 20
/** Maximum number of faults that are looked at. A body of 512 KB can have more than 100,000 of them. */
const maxRead = 1000

/** Says of a choice between schemas only that none fits; what each of them lacks stands beside it. */
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
}: SchemaFault): FieldFault => {
  const path = instancePath.slice(1).replaceAll('/', '.')
  const within = (name: unknown): string => (path === '' ? '' : `${path}.`) + String(name).slice(0, 100)
  if (keyword === 'required') {
    const attribute = within(params.missingProperty)
    return { code: 'missing_required_parameter', message: `${attribute} is missing.`, attribute }
  }
  if (keyword === 'additionalProperties') {
    const attribute = within(params.additionalProperty)
    return { code: 'unknown_parameter', message: `${attribute} is no field that can be set here.`, attribute }
  }
  const named = path === '' ? 'The request' : path
  if (keyword === 'pattern') {
    // A regular expression is for programs. The description of the field is for people.
    const expected = parentSchema?.description
    const text = `${named} does not have the expected form${expected ? `: ${plainEnd(expected)}` : ''}.`
    return { code: 'invalid_field', message: text, attribute: path === '' ? null : path }
  }
  const choices = Array.isArray(params.allowedValues) ? `: ${params.allowedValues.join(', ')}` : ''
  const text = `${named} ${message}${choices}.`
  return { code: 'invalid_field', message: text, attribute: path === '' ? null : path }
}
