import { markedNoise } from '../../../gateway/agent-test/testing/marked-noise.ts'
import { printFigure } from '../rooms/figures.ts'
import { isLoud } from './signals.ts'
import { endOfSpeechMs, hears, isQuiet, onStage, pause, type Stage } from './stage.ts'
import type { TalkingLine } from './talking-line.ts'

/** Delay of the engine between the end of the turn and its answer, in ms. */
const engineMs = 200
/** Turns of one call; each call has other phases of its packets. */
const turnsPerCall = 6

/** Times of one turn in ms. */
interface TurnDelays {
  /** From the caller's packets to the engine: the first and the last one with sound. */
  readonly toEngine: readonly number[]
  /** From the engine's first audio to its packet. */
  readonly fromEngine: number
  /** Added to the engine's own time from its last received sound to its first audio. */
  readonly added: number
  /** From the caller's last packet to the first of the answer, without the configured and scripted waits. */
  readonly whole: number
}

/** Takes one turn; undefined if there was no answer. */
const turn = async (
  { trace }: Stage,
  line: TalkingLine,
  speech: Int16Array,
): Promise<TurnDelays | undefined> => {
  await pause(100)
  trace.clear()
  line.forget()
  const said = await line.say(speech)
  const answer = await hears(line, said.endedAt)
  await isQuiet(line)
  const sent = trace.sent()[0]
  const heard = trace.received().filter(({ at, samples }) => isLoud(samples) && (!sent || at < sent.at))
  const first = heard[0]
  const last = heard.at(-1)
  if (!answer || !sent || !first || !last) return undefined
  const whole = answer.at - said.endedAt
  return {
    toEngine: [first.at - said.beganAt, last.at - said.endedAt],
    fromEngine: answer.at - sent.at,
    added: whole - (sent.at - last.at),
    whole: whole - endOfSpeechMs - engineMs,
  }
}

/** Measures goals G1, G2 and G3: the delays that the gateway adds to a real-time engine. */
export const delays = (turns = 60): Promise<void> =>
  onStage(
    {
      rules: [{ when: 'any', do: [{ after: engineMs }, { wav: { file: 'answer.wav', text: 'Yes.' } }] }],
      sounds: { 'answer.wav': markedNoise(300) },
      agents: { whole: { engine: 'whole' } },
    },
    async (stage) => {
      const speech = await stage.speech('Hello')
      const all: TurnDelays[] = []
      for (let taken = 0; taken < turns; ) {
        const line = await stage.dial('whole')
        for (let i = 0; i < turnsPerCall && taken < turns; i++, taken++) {
          const found = await turn(stage, line, speech)
          if (found) all.push(found)
        }
        await line.hangUp()
      }
      printFigure(
        "G1 caller's packet to the engine",
        all.flatMap(({ toEngine }) => toEngine),
        { p50: 25, p95: 35 },
      )
      printFigure(
        "G2 engine's first audio to its packet",
        all.map(({ fromEngine }) => fromEngine),
        { p50: 25, p95: 45 },
      )
      printFigure(
        "G3 added to the engine's own voice to voice",
        all.map(({ added }) => added),
        { p95: 75 },
      )
      printFigure(
        "– with the rounding of the engine's detection",
        all.map(({ whole }) => whole),
      )
      console.log(`turns without an answer: ${turns - all.length} of ${turns}`)
    },
  )
