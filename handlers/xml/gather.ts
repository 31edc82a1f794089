import { terminatorsPattern } from '../common/destinations.ts'
import type { Sound, SpeechOptions } from '../verbs.ts'
import type { ElementReader } from './element-reader.ts'
import { codes } from './faults.ts'
import type { GatherVerb } from './program.ts'
import type { Repeated } from './speaking.ts'
import { readPause, readPlay, readSay } from './speaking.ts'
import type { XmlElement } from './tree.ts'

/** Digits without a limit of the document's. */
const manyDigits = 128
/** Rounds of a prompt inside `Gather` that is to be repeated without end. */
const manyRounds = 100
/** Most sounds of one `Gather`, all rounds together. */
const maxSounds = 5_000

/** Most hints of one `Gather`; the rest is left out. */
const maxHints = 500

/** Reads `Gather`. Without an action its digits, or what was said, go to the document's own URL; an inline document has none, so it needs an action. */
export const readGather = (reader: ElementReader): GatherVerb => {
  const input = reader.matching(
    'input',
    '^(dtmf|speech|dtmf speech|speech dtmf)$',
    'dtmf, speech or both',
    'dtmf',
  )
  const speech = input === 'dtmf' ? undefined : readSpeech(reader)
  const timeoutMs = reader.integer('timeout', 1, 600, 5) * 1000
  const maxDigits = reader.integer('numDigits', 1, manyDigits, manyDigits)
  const terminators = reader.matching('finishOnKey', terminatorsPattern, 'any of 0-9 * # A-D', '#')
  const actionOnEmptyResult = reader.boolean('actionOnEmptyResult')
  const action = gatherAction(reader)
  reader.done()
  const sounds = promptsOf(reader)
  const prompt = sounds.length > 0 ? { sounds } : undefined
  return {
    path: reader.element.path,
    kind: 'gather',
    prompt,
    maxDigits,
    terminators,
    timeoutMs,
    action,
    actionOnEmptyResult,
    ...(speech && { speech }),
    ...(input === 'speech' && { digits: false }),
  }
}

/** `speechTimeout` in seconds, or `auto`: when the recogniser says that an utterance is over. */
const readSpeech = (reader: ElementReader): SpeechOptions => {
  const language = reader.text('language')
  const timeout = reader.matching(
    'speechTimeout',
    '^(auto|[1-9][0-9]?)$',
    'auto, or seconds from 1 to 99',
    'auto',
  )
  const hints = (reader.text('hints') ?? '')
    .split(',')
    .map((hint) => hint.trim())
    .filter((hint) => hint !== '')
  return {
    ...(language && { language }),
    ...(hints.length > 0 && { hints: hints.slice(0, maxHints) }),
    ...(timeout !== 'auto' && { endSilenceMs: Number(timeout) * 1000 }),
  }
}

const gatherAction = (reader: ElementReader): GatherVerb['action'] => {
  if (reader.element.attributes.has('action')) return reader.action()
  const method = reader.method()
  if (reader.base !== undefined) return { url: reader.base, method }
  reader.error(
    codes.badUrl,
    'Gather needs an action here: the document has no URL of its own to send the digits to.',
  )
  return undefined
}

const promptsOf = (reader: ElementReader): readonly Sound[] => {
  const sounds: Sound[] = []
  for (const child of reader.elements()) {
    sounds.push(...promptOf(reader, child))
    if (sounds.length <= maxSounds) continue
    reader.error(codes.schema, `Gather plays more than ${maxSounds} sounds, all rounds together.`)
    return []
  }
  return sounds
}

const promptOf = (gather: ElementReader, child: XmlElement): readonly Sound[] => {
  const reader = gather.nested(child)
  switch (child.name) {
    case 'Say':
      return rounds(readSay(reader))
    case 'Play': {
      const { audio, digits } = readPlay(reader)
      if (digits !== undefined) reader.warning(codes.digits, 'Digits cannot be sent inside Gather.', 'digits')
      return rounds(audio)
    }
    case 'Pause':
      return [{ kind: 'silence', ms: readPause(reader) }]
    default:
      reader.warning(codes.schema, `${child.name} is not supported in Gather; it has no effect.`)
      return []
  }
}

const rounds = (repeated: Repeated | undefined): readonly Sound[] =>
  repeated ? Array<Sound>(repeated.loop || manyRounds).fill(repeated.sound) : []
