import { markedNoise } from '../../../gateway/agent-test/testing/marked-noise.ts'
import type { EngineName } from '../../../gateway/stand-ins/script-types.ts'
import { printFigure } from '../rooms/figures.ts'
import { hears, isQuiet, onStage, pause, type Stage } from './stage.ts'

/** Delay of the model to its first words, and of the voice to its first audio, in ms. */
const modelMs = 200
const voiceMs = 100
/** Silence that ends a turn of the second agent: longer than the recogniser's own 500 ms. */
const longSilenceMs = 700
const turnsPerCall = 4
/** Level above the silence of a line: the begin of a voice is quiet. */
const anySoundDb = -75

/** Times of one turn in ms. */
interface TurnEnd {
  /** From the last packet of the caller to the request to the model. */
  readonly toModel: number
  /** From the recogniser's final text to the request to the model. */
  readonly decision: number
  /** From the model's first words to the request to the voice; absent for the built-in one. */
  readonly toVoice?: number
  /** From the first audio of the voice, or the first words for the built-in one, to its packet. */
  readonly toPacket: number
}

const pipelineMs = ({ decision, toVoice = 0, toPacket }: TurnEnd): number => decision + toVoice + toPacket

/** Returns the times of a turn whose first packet of the answer came at a time. */
const timesOf = ({ trace }: Stage, endedAt: number, answerAt: number): TurnEnd | undefined => {
  const of = (what: 'received' | 'sent', type: string, wanted: EngineName) =>
    trace.all(what, type).find(({ engine }) => engine === wanted)?.at
  const final = of('sent', 'result', 'vosk')
  const asked = of('received', 'POST', 'chat')
  const words = of('sent', '200', 'chat')
  if (final === undefined || asked === undefined || words === undefined) return undefined
  const spoken = of('received', 'POST', 'speech')
  const audio = of('sent', '200', 'speech')
  return {
    toModel: asked - endedAt,
    decision: asked - final,
    ...(spoken !== undefined && { toVoice: spoken - words }),
    toPacket: answerAt - (audio ?? words),
  }
}

/** Takes turns with an agent of a pipeline. */
const take = async (stage: Stage, name: string, turns: number): Promise<readonly TurnEnd[]> => {
  const { trace, standIns } = stage
  const speech = await stage.speech('Hello')
  const found: TurnEnd[] = []
  for (let taken = 0; taken < turns; ) {
    const line = await stage.dial(name)
    for (let i = 0; i < turnsPerCall && taken < turns; i++, taken++) {
      await pause(100)
      trace.clear()
      line.forget()
      // New words each time, so that no voice has them in its cache.
      standIns.willHear(`number ${Math.floor(1e6 * Math.random())}`)
      const said = await line.say(speech)
      const answer = await hears(line, said.endedAt, 5000, anySoundDb)
      await isQuiet(line, 1000)
      const times = answer && timesOf(stage, said.endedAt, answer.at)
      if (times) found.push(times)
    }
    await line.hangUp()
  }
  console.log(`turns without an answer: ${turns - found.length} of ${turns}`)
  return found
}

/** Measures goals G4 and G5: the pipeline from the recogniser's text to the voice, and the end of a turn. */
export const turnEnds = (turns = 24): Promise<void> =>
  onStage(
    {
      rules: [
        { when: { engine: 'speech' }, do: [{ after: voiceMs }, { wav: 'answer.wav' }] },
        {
          when: { engine: 'chat' },
          do: [{ after: modelMs }, { say: 'This is {{text}}. That' }, { after: 500 }, { say: 'was all.' }],
        },
      ],
      sounds: { 'answer.wav': markedNoise(400) },
      agents: {
        spoken: { engine: 'spoken' },
        parts: { engine: 'parts' },
        slow: { engine: 'spoken', params: { end_of_speech_timeout: longSilenceMs } },
      },
    },
    async (stage) => {
      const spoken = await take(stage, 'spoken', turns)
      printFigure('G4 added by a pipeline', spoken.map(pipelineMs), { p95: 90 })
      printFigure(
        '– text to the request to the model',
        spoken.map(({ decision }) => decision),
      )
      printFigure(
        '– words to the request to the voice',
        spoken.flatMap(({ toVoice }) => toVoice ?? []),
      )
      printFigure(
        '– audio to its packet',
        spoken.map(({ toPacket }) => toPacket),
      )
      const builtIn = await take(stage, 'parts', turns)
      printFigure('G4 with the built-in voice', builtIn.map(pipelineMs), { p95: 90 })
      const slow = await take(stage, 'slow', turns)
      printFigure(
        "G5 silence to the model's request, less its length",
        slow.map(({ toModel }) => toModel - longSilenceMs),
        { p95: 40 },
      )
    },
  )
