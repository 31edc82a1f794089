import type { InputKinds } from './relay-types.ts'

/** Message of a server. */
export type RelayMessage =
  /** Piece of text to speak; a turn of the server ends with `isLast`. */
  | {
      readonly type: 'text'
      readonly token: string
      readonly isLast: boolean
      readonly language?: string
      readonly interruptible?: InputKinds
      readonly isPreemptible?: boolean
    }
  /** Sound to play. `loops`: repetitions; 0 means until it is replaced or interrupted. */
  | {
      readonly type: 'play'
      readonly source: string
      readonly loops: number
      readonly interruptible?: InputKinds
      readonly isPreemptible?: boolean
    }
  /** Keys for the caller's side: `0-9 * #`; `w` waits 0.5 s. */
  | { readonly type: 'sendDigits'; readonly digits: string }
  | { readonly type: 'language'; readonly spoken?: string; readonly heard?: string }
  | { readonly type: 'end'; readonly handoffData?: string }

/** Message to a server. */
export type RelayReply =
  | { readonly type: 'setup'; readonly [field: string]: unknown }
  | { readonly type: 'prompt'; readonly voicePrompt: string; readonly lang: string; readonly last: boolean }
  | { readonly type: 'dtmf'; readonly digit: string }
  | {
      readonly type: 'interrupt'
      readonly utteranceUntilInterrupt: string
      readonly durationUntilInterruptMs: number
    }
  | { readonly type: 'error'; readonly description: string }
  | { readonly type: 'info'; readonly name: string; readonly value: string | number }

/** Maximum number of keys in a message. */
const maxDigits = 64
/** Maximum number of repetitions of a sound. */
const maxLoops = 1000
/** Maximum length of the text for the action, in characters. */
const maxHandoff = 16_384

const kinds: readonly InputKinds[] = ['none', 'dtmf', 'speech', 'any']

type Raw = Readonly<Record<string, unknown>>

/** Reads a message of a server. Throws an Error that names the fault. */
export const readRelayMessage = (text: string): RelayMessage => {
  const raw = objectOf(text)
  switch (raw.type) {
    case 'text':
      return readText(raw)
    case 'play':
      return readPlay(raw)
    case 'sendDigits':
      return readDigits(raw)
    case 'language':
      return readLanguage(raw)
    case 'end': {
      const handoffData = optionalText(raw, 'handoffData', maxHandoff)
      return { type: 'end', ...(handoffData !== undefined && { handoffData }) }
    }
    default:
      throw new Error('type: text, play, sendDigits, language or end expected')
  }
}

const readText = (raw: Raw): RelayMessage => {
  const { token } = raw
  if (typeof token !== 'string') throw new Error('token: a text expected')
  const language = languageAt(raw, 'lang')
  return {
    type: 'text',
    token,
    isLast: truth(raw, 'last') ?? false,
    ...(language !== undefined && { language }),
    ...readManner(raw),
  }
}

const readPlay = (raw: Raw): RelayMessage => {
  const { source, loop = 1 } = raw
  const url = typeof source === 'string' ? URL.parse(source) : null
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new Error('source: an http or https URL expected')
  if (typeof loop !== 'number' || !Number.isInteger(loop) || loop < 0 || loop > maxLoops)
    throw new Error(`loop: a number from 0 to ${maxLoops} expected`)
  return { type: 'play', source: url.href, loops: loop, ...readManner(raw) }
}

const readDigits = ({ digits }: Raw): RelayMessage => {
  if (typeof digits !== 'string' || digits.length > maxDigits || !/^[0-9w#*]+$/.test(digits))
    throw new Error(`digits: up to ${maxDigits} of 0-9 w # * expected`)
  return { type: 'sendDigits', digits }
}

const readLanguage = (raw: Raw): RelayMessage => {
  const spoken = languageAt(raw, 'ttsLanguage')
  const heard = languageAt(raw, 'transcriptionLanguage')
  if (spoken === undefined && heard === undefined)
    throw new Error('ttsLanguage or transcriptionLanguage expected')
  return { type: 'language', ...(spoken && { spoken }), ...(heard && { heard }) }
}

/** Reads the input that interrupts, and whether later speech replaces this one. */
const readManner = (raw: Raw): { readonly interruptible?: InputKinds; readonly isPreemptible?: boolean } => {
  const isPreemptible = truth(raw, 'preemptible')
  const interruptible = interruptibleOf(raw.interruptible)
  return {
    ...(interruptible !== undefined && { interruptible }),
    ...(isPreemptible !== undefined && { isPreemptible }),
  }
}

const interruptibleOf = (value: unknown): InputKinds | undefined => {
  if (value === undefined || value === null) return undefined
  if (value === true || value === 'true') return 'any'
  if (value === false || value === 'false') return 'none'
  const kind = kinds.find((each) => each === value)
  if (kind === undefined) throw new Error('interruptible: true, false, none, dtmf, speech or any expected')
  return kind
}

const truth = (raw: Raw, name: string): boolean | undefined => {
  const value = raw[name]
  if (value === undefined || value === null) return undefined
  if (value === true || value === 'true') return true
  if (value === false || value === 'false') return false
  throw new Error(`${name}: true or false expected`)
}

const languageAt = (raw: Raw, name: string): string | undefined => {
  const value = optionalText(raw, name, 35)
  if (value !== undefined && !/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/.test(value))
    throw new Error(`${name}: a language such as en-US expected`)
  return value
}

const optionalText = (raw: Raw, name: string, maxLength: number): string | undefined => {
  const value = raw[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value.length > maxLength)
    throw new Error(`${name}: a text of at most ${maxLength} characters expected`)
  return value
}

const objectOf = (text: string): Raw => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('a JSON object expected')
  return value as Raw
}
