import { setTimeout as sleep } from 'node:timers/promises'
import { markedNoise } from '../../../gateway/agent-test/testing/marked-noise.ts'
import { application, scripted } from '../../../test/support/applications.ts'
import { printFigure } from '../rooms/figures.ts'
import { firstLoud } from './readings.ts'
import { onStage, quietParams, type Stage, type StageEngine } from './stage.ts'
import { TalkingLine } from './talking-line.ts'

/** Level above the silence of a line: the begin of a voice is quiet. */
const anySoundDb = -75

/** An agent that speaks first, in a script that leaves the answer of the call to it. */
const greeter = (engine: StageEngine): object =>
  application(
    `${engine}.test`,
    scripted({
      ai: {
        prompt: { text: 'You answer.' },
        params: {
          ...quietParams,
          engine,
          wait_for_user: false,
          ...(engine !== 'whole' && { static_greeting: 'Welcome.' }),
        },
      },
    }),
  )

const take = async (stage: Stage, engine: StageEngine, turns: number): Promise<void> => {
  const first: number[] = []
  const voice: number[] = []
  for (let i = 0; i < turns; i++) {
    const line = await TalkingLine.open(stage.gateway.sipPort)
    const answeredAt = await line.call(`sip:desk@${engine}.test`)
    await sleep(1200)
    const [packet] = line.packets
    const sound = firstLoud(line.packets, 0, anySoundDb)
    if (packet) first.push(Math.max(0, packet.at - answeredAt))
    if (sound) voice.push(sound.at - answeredAt)
    await line.hangUp()
  }
  printFigure(`G10 answer to the first packet, ${engine}`, first, { p95: 20 })
  printFigure(`G10 answer to the first sound, ${engine}`, voice, { p95: 120 })
}

/** Measures goal G10: the greeting after the answer of a call. */
export const greetings = (turns = 20): Promise<void> =>
  onStage(
    {
      rules: [
        { when: { on: 'begin', engine: 'realtime' }, do: [{ wav: { file: 'hello.wav', text: 'Hello.' } }] },
        { when: { engine: 'speech' }, do: [{ wav: 'hello.wav' }] },
      ],
      sounds: { 'hello.wav': markedNoise(300) },
      agents: {},
      domains: [greeter('whole'), greeter('parts'), greeter('spoken')],
    },
    async (stage) => {
      for (const engine of ['whole', 'parts', 'spoken'] as const) await take(stage, engine, turns)
    },
  )
