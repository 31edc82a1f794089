import { recordingTracks, tracksOf } from '../../../../handlers/common/recordings.ts'
import type { CallOrder, PlacedState } from '../../../calling/call-placement.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { Resources } from '../../../directory/model/ports.ts'
import type { HandlerSpec, StatusTarget } from '../../../model.ts'
import type { ValidatedFields } from '../../requests/typed-routes.ts'
import type { CheckStored } from '../shared/document-checks.ts'
import { withoutUndefined } from '../shared/field-schemas.ts'
import { parameter } from './compat-shapes.ts'

type Method = 'GET' | 'POST'

const document = { type: 'string', minLength: 1, maxLength: 65_536 } as const

/** Parameters that name the document of a call. */
export const documentProperties = {
  Url: parameter.url,
  Twiml: document,
  Laml: document,
  Method: parameter.method,
  FallbackUrl: parameter.url,
  FallbackMethod: parameter.method,
} as const

const callbackEvents = ['initiated', 'ringing', 'answered', 'completed'] as const

/** Parameters of status callbacks. */
export const statusProperties = {
  StatusCallback: parameter.url,
  StatusCallbackMethod: parameter.method,
  StatusCallbackEvent: {
    type: 'array',
    maxItems: 20,
    items: { type: 'string', enum: [...callbackEvents, 'ringing_forwarded', 'ringing_queued'] },
  },
} as const

/** Parameters of recording callbacks. */
export const recordingStatusProperties = {
  RecordingStatusCallback: parameter.url,
  RecordingStatusCallbackMethod: parameter.method,
  RecordingStatusCallbackEvent: {
    type: 'array',
    maxItems: 20,
    items: { type: 'string', enum: ['in-progress', 'completed', 'absent'] },
    default: ['completed'],
  },
} as const

const sipUri = 'sips?:[^\\s\\u0000-\\u001f\\u007f]+'
const address = '/[^\\s/?\\u0000-\\u001f]+/[^\\s/\\u0000-\\u001f]+'
const destination = `^(\\+?[0-9*#]{1,32}|${sipUri}|client:[\\w.+@-]+|${address})$`

/** Parameters that create a call. */
export const createProperties = {
  To: { type: 'string', maxLength: 2_000, pattern: destination },
  From: parameter.text(256),
  CallerId: parameter.text(256),
  ...documentProperties,
  ApplicationSid: { type: 'string', minLength: 1, maxLength: 64 },
  ...statusProperties,
  SipAuthUsername: parameter.text(256),
  SipAuthPassword: parameter.text(256),
  Timeout: { type: 'integer', minimum: 1, maximum: 600, default: 60 },
  TimeLimit: { type: 'integer', minimum: 1, maximum: 86_400 },
  SendDigits: { type: 'string', pattern: '^[0-9A-D*#wW]{1,100}$' },
  MachineDetection: { type: 'string', enum: ['Enable', 'DetectMessageEnd', 'none'], default: 'none' },
  MachineDetectionTimeout: { type: 'integer', minimum: 3, maximum: 60, default: 30 },
  MachineDetectionSpeechThreshold: { type: 'integer', minimum: 1_000, maximum: 6_000 },
  MachineDetectionSpeechEndThreshold: { type: 'integer', minimum: 500, maximum: 5_000 },
  MachineDetectionSilenceTimeout: { type: 'integer', minimum: 2_000, maximum: 10_000 },
  MachineWordsThreshold: { type: 'integer', minimum: 1, maximum: 10 },
  AsyncAmd: { type: 'boolean', default: false },
  AsyncAmdStatusCallback: parameter.url,
  AsyncAmdStatusCallbackMethod: parameter.method,
  Record: { type: 'boolean', default: false },
  RecordingChannels: { type: 'string', enum: ['mono', 'dual'], default: 'mono' },
  RecordingTrack: { type: 'string', enum: recordingTracks, default: 'both' },
  Trim: { type: 'string', enum: ['trim-silence', 'do-not-trim'], default: 'do-not-trim' },
  ...recordingStatusProperties,
} as const

type DocumentForm = ValidatedFields<typeof documentProperties>
type StatusForm = ValidatedFields<typeof statusProperties>
type CreateForm = ValidatedFields<typeof createProperties, 'To' | 'From'>

/** Accepted parameters of a call without effect. */
export const createUnused = ['MaxPricePerMinute', 'Byoc', 'CallReason', 'CallToken', 'AsyncAmdPartialResults']

/**
 * Returns the call that a form describes. Rejects with `missing_required_parameter` and `invalid_field`,
 * which name the parameter, or as `check` does.
 */
export const orderOf = async (
  projectId: string,
  form: CreateForm,
  { resources, check }: { readonly resources: Pick<Resources, 'find'>; readonly check: CheckStored },
): Promise<CallOrder> => {
  const application = form.ApplicationSid
    ? applicationOf(projectId, form.ApplicationSid, resources)
    : undefined
  const handler = (await handlerOf(form, check)) ?? application?.handler
  if (!handler) {
    const text = 'Url, Twiml or ApplicationSid is needed.'
    throw new TrunklineError('missing_required_parameter', text, { attribute: 'Url' })
  }
  const credentials = credentialsOf(form)
  const status = statusOf(form) ?? application?.status
  return {
    projectId,
    to: form.To,
    from: form.From,
    handler,
    source: 'compat',
    timeoutMs: form.Timeout * 1000,
    ...withoutUndefined({
      callerId: form.CallerId,
      credentials,
      maxDurationMs: form.TimeLimit && form.TimeLimit * 1000,
      sendDigits: form.SendDigits,
      status,
      record: form.Record ? recordOf(form) : undefined,
      detect: form.MachineDetection === 'none' ? undefined : detectOf(form),
    }),
  }
}

const detectOf = (form: CreateForm): NonNullable<CallOrder['detect']> => {
  const thresholds = withoutUndefined({
    initialTimeoutMs: form.MachineDetectionSilenceTimeout,
    endSilenceMs: form.MachineDetectionSpeechEndThreshold,
    voiceThresholdMs: form.MachineDetectionSpeechThreshold,
    wordsThreshold: form.MachineWordsThreshold,
  })
  const { AsyncAmdStatusCallback: url, AsyncAmdStatusCallbackMethod: method } = form
  return {
    waitForMessageEnd: form.MachineDetection === 'DetectMessageEnd',
    timeoutMs: form.MachineDetectionTimeout * 1000,
    ...(Object.keys(thresholds).length > 0 && { thresholds }),
    ...(form.AsyncAmd && { background: url === undefined ? {} : { callback: { url, method } } }),
  }
}

/** Returns the document that a form names by URL or text, not by an application. Rejects as `check` does. */
export const handlerOf = async (
  { Url, Twiml, Laml, Method, FallbackUrl, FallbackMethod }: DocumentForm,
  check: CheckStored,
): Promise<HandlerSpec | undefined> => {
  if (Url !== undefined) return handlerAt(Url, Method, FallbackUrl, FallbackMethod)
  const document = Twiml ?? Laml
  if (document === undefined) return undefined
  await check({ kind: 'xml', document, attribute: 'Twiml' })
  return { kind: 'xml', document, name: 'Twiml' }
}

const handlerAt = (
  url: string,
  method: Method,
  fallbackUrl: string | undefined,
  fallbackMethod: Method = 'POST',
): HandlerSpec => ({ kind: 'xml', url, method, ...(fallbackUrl && { fallbackUrl, fallbackMethod }) })

/** Returns the status callback of a form, if any. */
export const statusOf = (form: StatusForm): StatusTarget | undefined =>
  form.StatusCallback === undefined
    ? undefined
    : targetOf(form.StatusCallback, form.StatusCallbackMethod, statesOf(form.StatusCallbackEvent))

const statesOf = (events: readonly string[] = ['completed']): readonly PlacedState[] =>
  callbackEvents.filter((state) => events.includes(state))

const targetOf = (url: string, method: Method, states: readonly PlacedState[]): StatusTarget => ({
  url,
  method,
  states,
  dialect: 'form',
})

/** Returns the handler of a stored application or document. Throws `invalid_field`. */
const applicationOf = (
  projectId: string,
  id: string,
  resources: Pick<Resources, 'find'>,
): { readonly handler: HandlerSpec; readonly status?: StatusTarget } => {
  const found = resources.find(projectId, 'cxml_webhook', id) ?? resources.find(projectId, 'cxml_script', id)
  if (!found)
    throw new TrunklineError('invalid_field', 'There is no such application.', {
      attribute: 'ApplicationSid',
    })
  const { statusCallbackUrl: url } = found.details
  if (found.type === 'cxml_script') {
    const handler = { kind: 'xml', document: found.details.document, name: found.displayName } as const
    return { handler, ...(url && { status: targetOf(url, 'POST', ['completed']) }) }
  }
  const { method, fallbackUrl, fallbackMethod, statusCallbackMethod = 'POST' } = found.details
  return {
    handler: handlerAt(found.details.url, method, fallbackUrl, fallbackMethod),
    ...(url && { status: targetOf(url, statusCallbackMethod, ['completed']) }),
  }
}

const credentialsOf = ({ SipAuthUsername: username, SipAuthPassword: password, To }: CreateForm) => {
  if (username === undefined && password === undefined) return undefined
  const missing = username === undefined ? 'SipAuthUsername' : 'SipAuthPassword'
  if (username === undefined || password === undefined)
    throw new TrunklineError('missing_required_parameter', `${missing} is missing.`, { attribute: missing })
  if (!/^sips?:/.test(To)) {
    const attribute = 'SipAuthUsername'
    throw new TrunklineError('invalid_field', 'It is permitted for SIP URIs only.', { attribute })
  }
  return { username, password }
}

const recordOf = (form: CreateForm): NonNullable<CallOrder['record']> => ({
  tracks: tracksOf(form.RecordingTrack, form.RecordingChannels === 'dual'),
  trim: form.Trim === 'trim-silence',
  ...(form.RecordingStatusCallback && {
    status: {
      url: form.RecordingStatusCallback,
      method: form.RecordingStatusCallbackMethod,
      events: form.RecordingStatusCallbackEvent,
    },
  }),
})
