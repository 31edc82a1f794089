import { usualTurns } from '../common/usual-turns.ts'
import type { AgentBarge, AgentMessage, AgentTurnSettings } from '../verbs.ts'
import type { AgentParams, AgentPrompt } from './document-types.ts'
import { Section } from './section.ts'
import { readTarget } from './targets.ts'
import { booleanOf, numberOf, secondsOf, textOf } from './values.ts'

/** Parameters of the language that are kept and have no effect. */
export const paramsWithoutEffect: ReadonlySet<string> = new Set(
  (
    'utility_model thinking_model vision_model inner_dialog_model max_emotion enable_thinking ' +
    'enable_inner_dialog inner_dialog_prompt inner_dialog_synced enable_vision llm_diarize_aware ' +
    'cache_mode asr_smart_format asr_diarize asr_speaker_affinity energy_level vad_config ' +
    'interrupt_on_noise hold_on_process speech_gen_quick_stops turn_filler_sources ' +
    'turn_filler_every_n turn_filler_min_ms tts_number_format enable_text_normalization ' +
    'auto_correct functions_on_no_response summary_mode verbose_logs debug audible_debug ' +
    'audible_latency video_listening_file video_idle_file video_talking_file eleven_labs_stability ' +
    'eleven_labs_similarity'
  ).split(' '),
)

/** Longest duration of a timer, in milliseconds: a day. */
const maxMs = 86_400_000

/** Maximum number of earlier messages. */
const maxHistory = 500

/** Instruction to the model after an interruption, if the document has none of its own. */
const defaultInterruptPrompt =
  'The caller interrupted you. Acknowledge it briefly, then answer what the caller said.'

const barges: Readonly<Record<string, AgentBarge>> = {
  partial: 'partial',
  complete: 'complete',
  all: 'any',
  any: 'any',
}

/** Reads `enable_barge`: a truth, or a list of words such as `complete,partial`. */
const readBarge = (section: Section): AgentBarge => {
  const value = section.get('enable_barge')
  if (value === undefined) return usualTurns.barge
  const isOn = booleanOf(value)
  if (isOn !== undefined) return isOn ? 'any' : 'none'
  const words = (textOf(value) ?? '')
    .slice(0, 100)
    .toLowerCase()
    .split(',')
    .map((word) => word.trim())
  const known = new Set(words.flatMap((word) => (Object.hasOwn(barges, word) ? (barges[word] ?? []) : [])))
  const [only] = known
  if (only === undefined) section.warn('enable_barge', 'must be complete, partial, all, true or false')
  return known.size === 1 && only ? only : 'any'
}

const interruptPrompt = (section: Section): string | undefined => {
  const prompt = section.text('interrupt_prompt')
  const isOn = section.boolean('acknowledge_interruptions')
  if (isOn === false) return undefined
  return prompt ?? (isOn ? defaultInterruptPrompt : undefined)
}

/** Reads a duration such as `1h45m30s`, or seconds, in milliseconds. */
const readDuration = (section: Section, key: string): number | undefined => {
  const value = section.get(key)
  if (value === undefined || value === '') return undefined
  const seconds = secondsOf(value)
  if (seconds !== undefined && seconds > 0) return Math.min(seconds * 1000, maxMs)
  if (seconds !== 0) section.warn(key, 'must be a duration such as 1h45m30s')
  return undefined
}

/** Returns the name that the agent waits for, if it speaks only when it is addressed. */
const wakeName = (section: Section, name: string): string | undefined => {
  const prefix = section.text('wake_prefix')
  return section.boolean('speak_when_spoken_to') ? [prefix, name].filter(Boolean).join(' ') : undefined
}

/** Reads the rules of turn-taking. Durations that are too large or small are clamped. */
export const readTurns = (section: Section, prompt: AgentPrompt, name: string): AgentTurnSettings => {
  const ms = (key: string, value: number, [min, max]: readonly [number, number] = [0, maxMs]): number =>
    section.number(key, [min, max]) ?? value
  const isTransparent = section.boolean('transparent_barge') ?? true
  const transparentMs = ms('transparent_barge_max_time', usualTurns.transparentBargeMs)
  const optional = {
    bargePattern: section.text('barge_match_string'),
    interruptPrompt: interruptPrompt(section),
    attentionPrompt: section.text('attention_timeout_prompt'),
    hardStopMs: readDuration(section, 'hard_stop_time'),
    hardStopPrompt: section.text('hard_stop_prompt'),
    wakeName: wakeName(section, name),
  }
  return {
    endOfSpeechMs: ms('end_of_speech_timeout', usualTurns.endOfSpeechMs, [250, 10_000]),
    isSemantic: section.boolean('enable_turn_detection') ?? usualTurns.isSemantic,
    semanticMs: ms('turn_detection_timeout', usualTurns.semanticMs, [0, 10_000]),
    firstWordMs: ms('first_word_timeout', usualTurns.firstWordMs, [0, 60_000]),
    speechEventMs: ms('speech_event_timeout', usualTurns.speechEventMs, [0, 60_000]),
    maxSpeechMs: ms('speech_timeout', usualTurns.maxSpeechMs, [1000, 600_000]),
    confidence: prompt.confidence ?? usualTurns.confidence,
    barge: readBarge(section),
    bargeMinWords: Math.round(ms('barge_min_words', usualTurns.bargeMinWords, [0, 99])),
    bargeConfidence: prompt.bargeConfidence ?? usualTurns.bargeConfidence,
    bargeFunctions: section.boolean('barge_functions') ?? usualTurns.bargeFunctions,
    transparentBargeMs: isTransparent ? transparentMs : 0,
    attentionMs: ms('attention_timeout', usualTurns.attentionMs),
    inactivityMs: ms('inactivity_timeout', usualTurns.inactivityMs, [10_000, 3_600_000]),
    keyMs: ms('digit_timeout', usualTurns.keyMs, [0, 60_000]),
    keyTerminators: section.text('digit_terminators') ?? usualTurns.keyTerminators,
    ...defined(optional),
  }
}

/** Returns an object without the members that are undefined. */
const defined = <T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

/** Reads the greeting. `static_greeting_no_barge` is a truth, or the greeting itself. */
const readGreeting = (section: Section): AgentParams['greeting'] => {
  const text = section.text('static_greeting')
  const value = section.get('static_greeting_no_barge')
  const isProtected = booleanOf(value)
  const own = isProtected === undefined ? textOf(value) : undefined
  const said = text ?? own
  return said ? { text: said, isInterruptible: own === undefined && isProtected !== true } : undefined
}

const roles = ['system', 'user', 'assistant'] as const

/** Reads earlier messages: `[{role, content, lang}]`. */
const readHistory = (section: Section): readonly AgentMessage[] =>
  section.sections('convo', maxHistory).flatMap((message) => {
    const role = message.choice('role', roles)
    const content = message.text('content')
    const language = message.text('lang')
    if (role !== undefined && content !== undefined) return { role, content, ...(language && { language }) }
    section.findings.warn(message.path, 'must have a role (system, user or assistant) and a content')
    return []
  })

const readBackground = (section: Section): AgentParams['background'] => {
  const url = section.text('background_file')
  const volumeDb = section.number('background_file_volume', [-50, 50]) ?? 0
  const value = section.get('background_file_loops')
  const isEndless = value === undefined || textOf(value) === 'undefined' || textOf(value) === 'endless'
  const loops = isEndless ? undefined : section.number('background_file_loops', [1, 10_000])
  return url === undefined ? undefined : { url, volumeDb, ...(loops && { loops: Math.round(loops) }) }
}

/** Reads `swaig_post_swml_vars`: a truth, or the names of variables. */
const readPostVariables = (section: Section): boolean | readonly string[] => {
  const value = section.get('swaig_post_swml_vars')
  const isOn = booleanOf(value)
  if (value === undefined || isOn !== undefined) return isOn ?? false
  if (typeof value === 'string') return value.split(',').map((name) => name.trim())
  return section.texts('swaig_post_swml_vars', 200) ?? false
}

const readDebug = (section: Section): Pick<AgentParams, 'debugUrl' | 'debugLevel'> => {
  const debugUrl = readTarget(section, 'debug_webhook_url', { user: [], password: [] })
  const level = Math.round(section.number('debug_webhook_level', [0, 2]) ?? 1)
  return { ...(debugUrl && { debugUrl }), debugLevel: level >= 2 ? 2 : level === 1 ? 1 : 0 }
}

const readPermissions = (section: Section) => ({
  allowSettings: section.boolean('swaig_allow_settings') ?? true,
  allowScripts: section.boolean('swaig_allow_swml') ?? true,
  allowGlobalData: section.boolean('swaig_set_global_data') ?? true,
  postConversation: section.boolean('swaig_post_conversation') ?? false,
  postVariables: readPostVariables(section),
  persistGlobalData: section.boolean('persist_global_data') ?? true,
  inputPollMs: section.number('input_poll_freq', [250, 3_600_000]) ?? 2000,
})

const readConversation = (section: Section) => {
  const slidingWindow = section.number('conversation_sliding_window', [0, 10_000])
  return {
    saveConversation: section.boolean('save_conversation') ?? false,
    history: readHistory(section),
    transferSummary: section.boolean('transfer_summary') ?? false,
    ...defined({
      conversationId: section.text('conversation_id'),
      slidingWindow: slidingWindow ? Math.round(slidingWindow) : undefined,
    }),
  } as const
}

/** Reads `outbound_attention_timeout`. An `attention_timeout` of 0 switches off both. */
const readOutboundAttention = (section: Section): number => {
  const isOff = numberOf(section.get('attention_timeout')) === 0
  return section.number('outbound_attention_timeout', [0, maxMs]) ?? (isOff ? 0 : 120_000)
}

/** Name of an agent without `ai_name`. */
const defaultName = 'computer'

/** Reads the parameters that concern neither turns nor the model. */
export const readParams = (section: Section): AgentParams => ({
  name: section.text('ai_name') ?? defaultName,
  initialDelayMs: section.number('initial_sleep_ms', [0, 300_000]) ?? 0,
  waitForUser: section.boolean('wait_for_user') ?? false,
  isPaused: section.boolean('start_paused') ?? false,
  canPause: section.boolean('enable_pause') ?? false,
  volumeDb: section.number('ai_volume', [-50, 50]) ?? 0,
  outboundAttentionMs: readOutboundAttention(section),
  appName: section.text('app_name') ?? 'swml app',
  timeZone: section.text('local_tz') ?? 'US/Central',
  accounting: section.boolean('enable_accounting') ?? false,
  redact: section.boolean('redact_prompt') ?? false,
  ...readPermissions(section),
  ...readConversation(section),
  ...readDebug(section),
  ...defined({
    model: section.text('ai_model'),
    recogniser: section.text('openai_asr_engine'),
    engine: section.text('engine'),
    greeting: readGreeting(section),
    direction: section.choice('direction', ['inbound', 'outbound']),
    conscience: section.text('conscience'),
    background: readBackground(section),
    holdMusic: section.text('hold_music'),
  }),
  all: section.value,
})

/** Warns about parameters that have no effect: those of the language in one warning, others in one each. */
export const warnAboutParams = (section: Section): void => {
  const unread = section.unknown()
  const known = unread.filter((key) => paramsWithoutEffect.has(key))
  if (known.length > 0) section.findings.warn(section.path, `has no effect here: ${known.join(', ')}`)
  for (const key of unread)
    if (!paramsWithoutEffect.has(key)) section.warn(key, 'is unknown and has no effect')
}

/** Returns the parameters of a document; without them an empty section. */
export const paramsOf = (document: Section): Section =>
  document.section('params') ?? new Section({}, document.at('params'), document.findings)
