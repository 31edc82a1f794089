import { cough } from '../../../gateway/agent-test/sound/signals.ts'
import { markedNoise } from '../../../gateway/agent-test/testing/marked-noise.ts'
import { SpokenWords } from '../../../test/support/spoken-words.ts'
import { printCount, printFigure } from '../rooms/figures.ts'
import { lastLoud, levelWithin, longestSilence } from './readings.ts'
import { click, rustle } from './signals.ts'
import { hears, isQuiet, onStage, pause, type Stage } from './stage.ts'
import type { TalkingLine } from './talking-line.ts'

/** Length of an answer in ms, and the number of sounds over each. */
const answerMs = 8000
const soundsPerAnswer = 3
/** Time after a sound in which the agent must go on; later, the interruption lasts. */
const maxResumeMs = 2000
/** Level in dB below that of the agent at which it counts as faded. */
const fadedDb = 6

/** Delays of an echo in ms, and a text whose voice comes back. */
const echoDelays = [20, 60, 100, 140, 180, 220, 260, 300]
const story = 'Your table for four people is booked for eight this evening at the side door of the house.'

/** Sound over an agent's voice that is no interruption. */
interface Alarm {
  readonly name: string
  readonly samples: Int16Array
  /** Text that a recogniser makes of it. */
  readonly text: string
}

/** Result of one sound. */
interface Outcome {
  readonly name: string
  /** Time in ms from the sound's end to the agent's full level; 0 if it never fell, absent if it ended. */
  readonly resumedMs?: number
  /** Time in ms from the agent's first packet below its level to its first one at it again. */
  readonly fadedMs: number
}

const alarmsOf = async (stage: Stage, count: number): Promise<readonly Alarm[]> => {
  const murmur = await stage.speech('Mm-hmm')
  return Array.from({ length: count }, (_, at): Alarm => {
    const kind = at % 4
    if (kind === 0) return { name: 'cough', samples: cough(150 + 50 * (at % 6), at + 1), text: '' }
    if (kind === 3) return { name: 'rustle', samples: rustle(900, at + 1), text: '' }
    return kind === 1
      ? { name: 'mm-hm', samples: murmur, text: 'mm-hmm' }
      : { name: 'click', samples: click(), text: '' }
  })
}

/** Makes a sound over the agent's voice, and waits until the agent has its level again. */
const alarm = async (stage: Stage, line: TalkingLine, { name, samples, text }: Alarm): Promise<Outcome> => {
  const before = performance.now()
  const level = levelWithin(line.packets, before - 300, before)
  const isFull = ({ db }: { readonly db: number }) => db > level - fadedDb
  const forget = stage.standIns.willHear(text)
  const said = await line.say(samples)
  const isFaded = () => line.packets.some((packet) => packet.at >= said.beganAt && !isFull(packet))
  await pause(150)
  let resumedMs: number | undefined = isFaded() ? undefined : 0
  let fadedMs = 0
  while (resumedMs === undefined && performance.now() < said.endedAt + maxResumeMs) {
    await pause(0)
    const last = line.packets.findLast((packet) => packet.at >= said.beganAt && !isFull(packet))
    const after = line.packets.filter((packet) => last && packet.at > last.at && isFull(packet))
    if (after.length <= 3) continue
    const first = line.packets.find((packet) => packet.at >= said.beganAt && !isFull(packet))
    resumedMs = Math.max(0, after[0]!.at - said.endedAt)
    fadedMs = after[0]!.at - (first?.at ?? after[0]!.at)
  }
  // The recogniser ends its turn after 500 ms; it takes no text for a sound that is too short.
  await pause(Math.max(0, said.endedAt + 600 - performance.now()))
  forget()
  return { name, fadedMs, ...(resumedMs !== undefined && { resumedMs }) }
}

/** Makes sounds over answers. */
const alarms = async (stage: Stage, count: number): Promise<readonly Outcome[]> => {
  const sounds = await alarmsOf(stage, count)
  const first = await stage.speech('Hello')
  const line = await stage.dial('spoken')
  const found: Outcome[] = []
  while (found.length < count) {
    stage.standIns.willHear('Hello')
    const said = await line.say(first)
    if (!(await hears(line, said.endedAt))) break
    await pause(500)
    for (const sound of sounds.slice(found.length, found.length + soundsPerAnswer)) {
      const outcome = await alarm(stage, line, sound)
      found.push(outcome)
      if (outcome.resumedMs === undefined) break
    }
    await isQuiet(line, 400, answerMs)
    line.forget()
    await pause(600)
  }
  await line.hangUp()
  return found
}

/** Interrupts answers by words. Returns the number of answers that went on. */
const misses = async (stage: Stage, count: number): Promise<number> => {
  const first = await stage.speech('Hello')
  const words = await stage.speech('No, that is wrong')
  const line = await stage.dial('spoken')
  let missed = 0
  let forget = stage.standIns.willHear('Hello')
  let { endedAt } = await line.say(first)
  for (let i = 0; i < count; i++) {
    await hears(line, endedAt)
    await pause(300 + 600 * Math.random())
    forget = stage.standIns.willHear('No, that is wrong')
    const said = await line.say(words)
    await pause(150)
    if (longestSilence(line.packets, said.beganAt, said.endedAt + 150) < 300) missed++
    endedAt = said.endedAt + 150
    line.forget()
  }
  await line.hangUp()
  // The call has ended before the last text was recognised.
  forget()
  return missed
}

/** Talks, and returns the time in ms from the first to the last sound of the answer. */
const answerLength = async (
  line: TalkingLine,
  first: Int16Array,
  echo?: { readonly delayMs: number; readonly gain: number },
): Promise<number> => {
  const said = await line.say(first)
  const begin = await hears(line, said.endedAt)
  line.echo(echo)
  await isQuiet(line, 1000, 12_000)
  line.echo(undefined)
  const last = lastLoud(line.packets, performance.now())
  line.forget()
  await pause(600)
  return begin && last ? last.ms - begin.ms : 0
}

/** Talks with an echo of -20 dB. Returns the delays whose echo stopped or interrupted the agent. */
const echoes = async (stage: Stage, turns: number): Promise<readonly number[]> => {
  const first = await stage.speech('Hello')
  const line = await stage.dial('spoken')
  const failed: number[] = []
  const count = Math.min(echoDelays.length, Math.max(2, Math.floor(turns / 3)))
  stage.standIns.willHear('echo')
  const wholeMs = await answerLength(line, first)
  for (const delayMs of echoDelays.slice(0, count)) {
    stage.standIns.willHear('echo')
    // The recogniser understands the echo as well as a caller, in one part or in several.
    const forget = Array.from({ length: 5 }, () => stage.standIns.willHear(story))
    const playedMs = await answerLength(line, first, { delayMs, gain: 0.1 })
    for (const each of forget) each()
    // A stopped answer is shorter; one that goes on after a stop is longer.
    if (Math.abs(playedMs - wholeMs) > 40) failed.push(delayMs)
  }
  await line.hangUp()
  return failed
}

/**
 * Measures goal G8: sounds over the agent's voice, and an echo of it. `silero`: folder with the packages of
 * the detector.
 */
export const falseAlarms = async (turns = 30, silero?: string): Promise<void> => {
  const words = new SpokenWords()
  const spoken = await words.of(story)
  await words.close()
  const options = {
    rules: [
      { when: { engine: 'speech', contains: ['table'] }, do: [{ wav: 'story.wav' }] },
      { when: { engine: 'speech' }, do: [{ wav: 'answer.wav' }] },
      { when: { engine: 'chat', contains: ['echo'] }, do: [{ say: story }] },
      { when: { engine: 'chat' }, do: [{ say: 'This is a very long answer.' }] },
    ],
    sounds: { 'answer.wav': markedNoise(answerMs), 'story.wav': spoken },
    agents: { spoken: { engine: 'spoken' } },
    silero,
  } as const
  await onStage(options, async (stage) => {
    const found = await alarms(stage, turns)
    for (const name of ['cough', 'mm-hm', 'click', 'rustle']) {
      const own = found.filter((each) => each.name === name)
      printFigure(
        `G8 end of a sound to the agent's voice, ${name}`,
        own.flatMap(({ resumedMs }) => resumedMs ?? []),
        { p95: 300 },
      )
      printFigure(
        `time that the agent is lowered, ${name}`,
        own.map(({ fadedMs }) => fadedMs),
      )
    }
    const lasting = found.filter(({ resumedMs }) => resumedMs === undefined).length
    printCount('G8 lasting interruptions by such sounds', (100 * lasting) / found.length, '%', 1)
    printCount('G8 interruptions by words that were missed', await misses(stage, turns), `of ${turns}`, 0)
    const failed = await echoes(stage, turns)
    printCount('G8 answers that an echo of -20 dB stopped', failed.length, `(${failed.join(', ')})`, 0)
  })
}
