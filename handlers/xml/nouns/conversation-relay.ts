import type { Fields } from '../../common/forms.ts'
import { seconds } from '../../common/forms.ts'
import { RelaySession } from '../../relay/relay-session.ts'
import {
  type InputKinds,
  type RelayEnd,
  type RelayOptions,
  type RelayReport,
  relayCodes,
} from '../../relay/relay-types.ts'
import type { AgentLanguage } from '../../verbs.ts'
import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import type { ElementKind, VerbContext } from '../verb.ts'
import { parameter, readParameters } from './parameter.ts'

/** Attributes of a voice and of a recogniser. */
const speech = ['ttsProvider', 'voice', 'transcriptionProvider', 'speechModel'] as const

const language: ElementKind = { name: 'Language', attributes: ['code', ...speech] }

/** Noun `ConversationRelay`: a server that receives and sends the texts of a conversation. */
export const conversationRelay: ElementKind = {
  name: 'ConversationRelay',
  attributes: [
    'url',
    'welcomeGreeting',
    'welcomeGreetingInterruptible',
    'language',
    'ttsLanguage',
    'transcriptionLanguage',
    ...speech,
    'interruptible',
    'interruptSensitivity',
    'ignoreBackchannel',
    'reportInputDuringAgentSpeech',
    'dtmfDetection',
    'preemptible',
    'partialPrompts',
    'speechTimeout',
    // The published library writes some names in lower case.
    'ignorebackchannel',
    'speechtimeout',
    'hints',
    'events',
    'debug',
  ],
  children: [language, parameter],
}

const tag = '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$'
const tagText = 'a language such as en-US'
const reports: readonly RelayReport[] = ['tokens-played', 'speaker-events', 'debugging']

/** Range of `speechTimeout`, in ms. */
const minSilenceMs = 100
const maxSilenceMs = 10_000

/** Reads kinds of input; `true` and `false` are those of earlier documents. */
const readKinds = (reader: ElementReader, name: string, fallback: InputKinds): InputKinds => {
  const word = reader.choice(name, ['any', 'speech', 'dtmf', 'none', 'true', 'false'], fallback)
  return word === 'true' ? 'any' : word === 'false' ? 'none' : word
}

/** Parts of the name of an ElevenLabs voice: its id, a model, and its settings. */
const elevenLabsVoice = /^([A-Za-z0-9]{10,40})(?:-[a-z0-9_]{1,40})?(?:-(\d[\d.]*)_(\d[\d.]*)_(\d[\d.]*))?$/

/** Reads the voice of an element, such as `ElevenLabs.rachel`. The provider is ElevenLabs by default. */
const readVoice = (reader: ElementReader): Pick<AgentLanguage, 'voice' | 'voiceSettings'> => {
  const voice = reader.text('voice')?.trim()
  const named = reader.text('ttsProvider')?.trim()
  if (!voice) return named ? { voice: named } : {}
  const provider = named || (/^[A-Za-z0-9]+\./.test(voice) ? undefined : 'ElevenLabs')
  if (provider?.toLowerCase() !== 'elevenlabs')
    return { voice: provider && !voice.startsWith(`${provider}.`) ? `${provider}.${voice}` : voice }
  const [, id = voice, speed, stability, similarity] = elevenLabsVoice.exec(voice) ?? []
  return {
    voice: `${provider}.${id}`,
    ...(speed !== undefined && {
      voiceSettings: {
        speed: Number(speed),
        stability: Number(stability),
        similarity_boost: Number(similarity),
      },
    }),
  }
}

/** Reads the recogniser, such as `Deepgram:nova-3-general`. */
const readRecogniser = (reader: ElementReader): string | undefined => {
  const provider = reader.text('transcriptionProvider')?.trim()
  const model = reader.text('speechModel')?.trim()
  if (!provider && !model) return undefined
  return model ? `${provider || 'Deepgram'}:${model}` : provider
}

/** Reads the `Language` children. */
const readLanguages = (reader: ElementReader): readonly AgentLanguage[] =>
  reader.nestedOf([language]).flatMap(({ reader: child }) => {
    const code = child.matching('code', tag, tagText, '')
    if (code === '') {
      child.warning(codes.schema, 'Language needs a code such as en-US; it has no effect.')
      return []
    }
    for (const name of ['transcriptionProvider', 'speechModel'])
      if (child.text(name) !== undefined)
        child.warning(
          codes.schema,
          `The attribute ${name} has no effect in Language: one recogniser hears all languages.`,
          name,
        )
    return [{ name: code, code, heard: code, ...readVoice(child) }]
  })

/** Returns the spelling of an attribute that the element has. */
const spelling = ({ element }: ElementReader, name: string): string =>
  element.attributes.has(name) ? name : name.toLowerCase()

const readTimeout = (reader: ElementReader): number | undefined => {
  const name = spelling(reader, 'speechTimeout')
  if (reader.text(name)?.trim() === 'auto') return undefined
  return reader.integer(name, minSilenceMs, maxSilenceMs, undefined)
}

/** Reads the first language: that of the attributes, with the voice of its `Language`. */
const readLanguage = (reader: ElementReader, languages: readonly AgentLanguage[]): AgentLanguage => {
  const usual = reader.matching('language', tag, tagText, 'en-US')
  const code = reader.matching('ttsLanguage', tag, tagText, usual)
  const heard = reader.matching('transcriptionLanguage', tag, tagText, usual)
  const own = readVoice(reader)
  const listed = languages.find((each) => each.code === code)
  return { name: code, code, ...listed, ...own, heard }
}

/** Reads a `ConversationRelay`. Undefined after an error. */
export const readConversationRelay = (reader: ElementReader): RelayOptions | undefined => {
  const url = reader.text('url')?.trim() ?? ''
  const languages = readLanguages(reader)
  const interruptible = readKinds(reader, 'interruptible', 'any')
  const greeting = reader.text('welcomeGreeting')?.trim()
  const greetingKinds = readKinds(reader, 'welcomeGreetingInterruptible', 'any')
  const recogniser = readRecogniser(reader)
  const silenceMs = readTimeout(reader)
  const first = readLanguage(reader, languages)
  const options = {
    url,
    ...(greeting && { greeting: { text: greeting, interruptible: greetingKinds } }),
    language: first,
    languages: languages.filter(({ code }) => code !== first.code),
    ...(recogniser !== undefined && { recogniser }),
    hints: hintsOf(reader.text('hints')),
    interruptible,
    sensitivity: reader.choice('interruptSensitivity', ['high', 'medium', 'low'], 'high'),
    isBackchannelIgnored: reader.boolean(spelling(reader, 'ignoreBackchannel'), true),
    reported: readKinds(reader, 'reportInputDuringAgentSpeech', 'none'),
    isPreemptible: reader.boolean('preemptible'),
    hasKeys: reader.boolean('dtmfDetection'),
    hasPartials: reader.boolean('partialPrompts'),
    ...(silenceMs !== undefined && { silenceMs }),
    reports: new Set([...readReports(reader, 'events'), ...readReports(reader, 'debug')]),
    parameters: readParameters(reader),
  }
  if (['ws:', 'wss:'].includes(URL.parse(url)?.protocol ?? '')) return options
  reader.error(
    relayCodes.connection,
    'ConversationRelay needs the attribute url with a wss: or ws: URL.',
    'url',
  )
  return undefined
}

const readReports = (reader: ElementReader, name: string): readonly RelayReport[] =>
  reader.words(name, reports, [], codes.schema)

const hintsOf = (text = ''): readonly string[] =>
  text
    .split(',')
    .map((hint) => hint.trim())
    .filter((hint) => hint !== '')

/** Runs the session to its end. Returns the fields of the action. */
export const runConversationRelay = async (context: VerbContext, options: RelayOptions): Promise<Fields> => {
  const { call, handler } = context
  const session = new RelaySession(options, {
    call,
    context: handler,
    setup: setupOf(context),
    warn: (code, message) => context.warn(code, message),
  })
  const { id, end, durationMs } = await session.run()
  return { SessionId: id, SessionDuration: seconds(durationMs), ...fieldsOf(end) }
}

const fieldsOf = (end: RelayEnd): Fields => {
  if (end.status === 'failed')
    return { SessionStatus: 'failed', ErrorCode: end.code, ErrorMessage: end.reason }
  const handoffData = end.status === 'ended' ? end.handoffData : undefined
  return { SessionStatus: end.status, ...(handoffData !== undefined && { HandoffData: handoffData }) }
}

/** Returns the facts about the call, for the first message. */
const setupOf = ({ standardFields, call }: VerbContext): Readonly<Record<string, unknown>> => {
  const fields = standardFields()
  const { info } = call
  return {
    accountSid: info.projectId,
    parentCallSid: fields.ParentCallSid ?? '',
    callSid: info.callId,
    from: info.from,
    to: info.to,
    forwardedFrom: '',
    callType: info.type === 'webrtc' ? 'CLIENT' : /^\+?\d+$/.test(info.fromUser) ? 'PSTN' : 'SIP',
    callerName: info.fromName,
    direction: fields.Direction ?? 'inbound',
    callStatus: (fields.CallStatus ?? '').toUpperCase(),
  }
}
