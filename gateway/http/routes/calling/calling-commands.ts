import { didYouMean } from '../../../../handlers/common/spelling.ts'
import { isHttpUrl } from '../../../../handlers/common/urls.ts'
import type { CallOrder } from '../../../calling/call-placement.ts'
import { Fields, textOf } from '../../../calling/operations/command-fields.ts'
import { isScript } from '../../../calling/transfer-handler.ts'
import { isDigits } from '../../../calls/leg/dtmf.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { isJsonObject } from '../../../core/json.ts'
import type { CallProgress, HandlerSpec, StatusTarget } from '../../../model.ts'
import { unknownField } from '../../requests/request-faults.ts'
import { type CheckStored, documentOf } from '../shared/document-checks.ts'
import { withoutUndefined } from '../shared/field-schemas.ts'

const maxVariables = 100

const dialFields = [
  'from',
  'to',
  'url',
  'swml',
  'caller_id',
  'fallback_url',
  'username',
  'password',
  'status_url',
  'status_events',
  'url_method',
  'timeout',
  'codecs',
  'send_digits',
  'custom_variables',
] as const
/** Accepted fields without effect: calls are free, and there is one region. */
const dialUnused = ['max_price_per_minute', 'region']

/** Returns the given fields of `dial` that have no effect. */
export const unusedOf = (params: Readonly<Record<string, unknown>>): readonly string[] =>
  dialUnused.filter((name) => params[name] !== undefined)

/**
 * Reads the `params` of `dial`. Rejects with `missing_required_parameter`, `unknown_parameter`,
 * `invalid_field`, or as `check` does.
 */
export const readDial = async (
  given: unknown,
  { projectId, check }: { readonly projectId: string; readonly check: CheckStored },
): Promise<CallOrder> => {
  const params = new Fields(given)
  onlyThese(params, [...dialFields, ...dialUnused])
  const to = needed(params, 'to')
  const from = needed(params, 'from')
  const callerId = params.text('caller_id')
  const credentials = readCredentials(params)
  const seconds = params.integer('timeout', 1, 600)
  const timeoutMs = seconds && seconds * 1000
  const codecs = readCodecs(params)
  const sendDigits = params.text('send_digits')
  if (sendDigits !== undefined && !isDigits(sendDigits)) throw params.wrong('send_digits', '0-9 * # A-D w W')
  const variables = readVariables(params)
  const status = readStatus(params)
  return {
    projectId,
    to,
    from,
    source: 'calling',
    handler: await neededHandler(params, check),
    ...withoutUndefined({ callerId, credentials, timeoutMs, codecs, sendDigits, variables, status }),
  }
}

/** Parameters of `update`. */
export type Update =
  | { readonly id: string; readonly end: 'canceled' | 'completed' }
  | { readonly id: string; readonly handler: HandlerSpec; readonly status?: StatusTarget }

/** Reads the `params` of `update`; rejects like {@link readDial}. */
export const readUpdate = async (given: unknown, check: CheckStored): Promise<Update> => {
  const params = new Fields(given)
  onlyThese(params, [
    'id',
    'url',
    'swml',
    'fallback_url',
    'url_method',
    'status',
    'status_url',
    'status_events',
  ])
  const id = needed(params, 'id')
  const end = params.oneOf('status', ['canceled', 'completed'] as const)
  if (end) return { id, end }
  const status = readStatus(params)
  return { id, handler: await neededHandler(params, check), ...(status && { status }) }
}

/**
 * Checks the script that a call is transferred to, before the running document ends. Rejects as `check` does.
 */
export const checkTransfer = async (
  { dest }: Readonly<Record<string, unknown>>,
  check: CheckStored,
): Promise<void> => {
  if (typeof dest === 'string' && isScript(dest))
    await check({ kind: 'script', document: dest, attribute: 'dest' })
}

const onlyThese = (params: Fields, names: readonly string[]): void => {
  for (const attribute of Object.keys(params.all)) {
    if (names.includes(attribute)) continue
    const name = attribute.slice(0, 100)
    throw new TrunklineError('unknown_parameter', unknownField(name, didYouMean(name, names)), {
      attribute: name,
    })
  }
}

const missing = (attribute: string, text = `${attribute} is missing.`): TrunklineError =>
  new TrunklineError('missing_required_parameter', text, { attribute })

const needed = (params: Fields, name: string): string => {
  if (params.raw(name) === undefined) throw missing(name)
  return params.needed(name)
}

const readUrl = (params: Fields, name: string): string | undefined => {
  const text = params.text(name)
  if (text === undefined) return undefined
  if (!isHttpUrl(text)) throw params.wrong(name, 'an http or https URL')
  return text
}

const neededHandler = async (params: Fields, check: CheckStored): Promise<HandlerSpec> => {
  const url = readUrl(params, 'url')
  const swml = params.raw('swml')
  if (url !== undefined && swml !== undefined) throw params.wrong('swml', 'only one of url and swml')
  const method = params.oneOf('url_method', ['GET', 'POST'] as const)
  const fallbackUrl = readUrl(params, 'fallback_url')
  if (url !== undefined)
    return { kind: 'script', url, ...(method && { method }), ...(fallbackUrl && { fallbackUrl }) }
  if (swml === undefined) throw missing('url', 'url or swml is needed.')
  if (typeof swml !== 'string' && !isJsonObject(swml)) throw params.wrong('swml', 'an object, or a text')
  const document = documentOf(swml)
  await check({ kind: 'script', document, attribute: 'swml' })
  return { kind: 'script', document, name: 'swml' }
}

const readCredentials = (params: Fields): CallOrder['credentials'] => {
  const username = params.text('username')
  const password = params.text('password')
  if (password !== undefined && username === undefined) throw missing('username')
  return username === undefined ? undefined : { username, password: password ?? '' }
}

const codecNames = { PCMU: 'PCMU', PCMA: 'PCMA', G722: 'G722', OPUS: 'opus' } as const

/** Reads codecs from a list or a comma-separated string. Video codecs and unsupported codecs are ignored. */
const readCodecs = (params: Fields): CallOrder['codecs'] => {
  const given = params.raw('codecs')
  if (given === undefined) return undefined
  const names = typeof given === 'string' ? given.split(',') : params.list('codecs', 20, textOf)
  const known = Object.entries(codecNames)
  const found = names.flatMap((name) => known.filter(([key]) => key === name.trim().toUpperCase()))
  if (found.length === 0)
    throw params.wrong('codecs', `at least one of ${Object.keys(codecNames).join(', ')}`)
  return found.map(([, codec]) => codec)
}

const readVariables = (params: Fields): CallOrder['variables'] => {
  const given = params.fields('custom_variables')?.all
  if (!given) return undefined
  const entries = Object.entries(given)
  if (entries.length > maxVariables)
    throw params.wrong('custom_variables', `at most ${maxVariables}`, entries.length)
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const isPlain = ['string', 'number', 'boolean'].includes(typeof value)
      if (!isPlain) throw params.wrong('custom_variables', 'texts, numbers, true or false')
      return [name, String(value)]
    }),
  )
}

const progress: ReadonlyMap<string, CallProgress> = new Map([
  ['created', 'initiated'],
  ['ringing', 'ringing'],
  ['answered', 'answered'],
  ['ended', 'completed'],
])

const readStatus = (params: Fields): StatusTarget | undefined => {
  const url = readUrl(params, 'status_url')
  const events = params.list('status_events', 10, (value, path) => {
    const state = progress.get(textOf(value, path))
    if (!state) throw params.wrong('status_events', `some of ${[...progress.keys()].join(', ')}`)
    return state
  })
  if (url === undefined) return undefined
  return { url, method: 'POST', states: events.length > 0 ? events : ['completed'], dialect: 'json' }
}
