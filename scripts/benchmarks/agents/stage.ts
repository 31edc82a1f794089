/** Gateway with agents, stand-ins of their engines in this process, and the telephones of callers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStandIns, type StandIns } from '../../../gateway/stand-ins/open-stand-ins.ts'
import { scriptOf } from '../../../gateway/stand-ins/read-script.ts'
import { application, scripted } from '../../../test/support/applications.ts'
import { Gateway } from '../../../test/support/gateway.ts'
import { SpokenWords } from '../../../test/support/spoken-words.ts'
import { wav } from '../../../test/support/wav.ts'
import { unlimited } from '../sip-gateway.ts'
import { EngineTrace } from './engine-trace.ts'
import { firstLoud, type HeardPacket, silentDb } from './readings.ts'
import { trimmed } from './signals.ts'
import { TalkingLine } from './talking-line.ts'

/** Engines of a {@link Stage}. */
export type StageEngine = 'whole' | 'wide' | 'brief' | 'parts' | 'spoken'

/** Agent that callers reach. */
export interface StageAgent {
  readonly engine: StageEngine
  /** Keys of `params` besides those of {@link quietParams}. */
  readonly params?: Readonly<Record<string, unknown>>
}

/** Options of a {@link Stage}. */
export interface StageOptions {
  /** Rules of the stand-ins. Names of sounds in `wav` become files. */
  readonly rules: readonly object[]
  /** Sounds that the rules name, at 8 kHz. */
  readonly sounds?: Readonly<Record<string, Int16Array>>
  /** Agents by the first part of their domains. */
  readonly agents: Readonly<Record<string, StageAgent>>
  /** Further domains. */
  readonly domains?: readonly object[]
  readonly rtpPorts?: number
  /** Folder with the packages of Silero; default the level meter alone. */
  readonly silero?: string | undefined
  /** Whether the events of the stand-ins are kept; default true. */
  readonly isTraced?: boolean
}

/** Silence that ends a turn, in ms. */
export const endOfSpeechMs = 300

/** Params of agents that speak only if they are spoken to. */
export const quietParams = {
  wait_for_user: true,
  attention_timeout: 0,
  end_of_speech_timeout: endOfSpeechMs,
  enable_turn_detection: false,
  transparent_barge: false,
} as const

/** Returns the configuration of all engines, at the stand-ins. */
export const enginesAt = ({ url, wsUrl }: Pick<StandIns, 'url' | 'wsUrl'>): Record<string, unknown> => {
  const realtime = { kind: 'openai-realtime', url: `${wsUrl}/v1/realtime`, key: 'k', model: 'gpt-realtime-2' }
  const pipeline = { kind: 'pipeline', recognisers: 'ears', models: 'mind' }
  return {
    default: 'whole',
    engines: {
      whole: realtime,
      wide: { ...realtime, format: 'pcm' },
      // The next session is opened 30 s before the end of the present one, so a second after its begin.
      brief: { ...realtime, longestSession: '31s' },
      parts: { ...pipeline, voices: 'built-in' },
      spoken: { ...pipeline, voices: 'mouth' },
    },
    recognisers: { ears: { kind: 'vosk', url: `${wsUrl}/vosk` } },
    models: { mind: { kind: 'openai', url: `${url}/v1`, key: 'k', model: 'any' } },
    voices: {
      mouth: { kind: 'openai', url: `${url}/v1/audio/speech`, key: 'k', model: 'any', voice: 'any' },
    },
  }
}

/** Returns the domain of an agent. */
export const agentDomain = (name: string, { engine, params }: StageAgent): object =>
  application(
    `${name}.test`,
    scripted(
      { answer: {} },
      { ai: { prompt: { text: 'You answer.' }, params: { ...quietParams, engine, ...params } } },
    ),
  )

/** A gateway in a process of its own, and stand-ins in this one. */
export class Stage {
  readonly gateway: Gateway
  readonly standIns: StandIns
  readonly trace: EngineTrace
  readonly words: SpokenWords
  readonly #folder: string

  private constructor(gateway: Gateway, standIns: StandIns, trace: EngineTrace, folder: string) {
    this.gateway = gateway
    this.standIns = standIns
    this.trace = trace
    this.#folder = folder
    this.words = new SpokenWords()
  }

  static async start(options: StageOptions): Promise<Stage> {
    const folder = mkdtempSync(join(tmpdir(), 'bench-agents-'))
    for (const [name, samples] of Object.entries(options.sounds ?? {}))
      writeFileSync(join(folder, name), wav(samples, 8000))
    const trace = new EngineTrace()
    const standIns = await openStandIns({
      script: scriptOf({ rules: options.rules }, folder),
      ...(options.isTraced !== false && { observe: trace.observe }),
    })
    const detector = options.silero === undefined ? {} : { kind: 'silero', folder: options.silero }
    const gateway = await Gateway.start({
      rtpPorts: options.rtpPorts ?? 200,
      sip: unlimited,
      agents: { ...enginesAt(standIns), detector },
      domains: [
        ...Object.entries(options.agents).map(([name, agent]) => agentDomain(name, agent)),
        ...(options.domains ?? []),
      ],
    })
    return new Stage(gateway, standIns, trace, folder)
  }

  /** Returns words of a caller, which begin and end with sound. */
  async speech(text: string): Promise<Int16Array> {
    return trimmed(await this.words.of(text))
  }

  /** Calls an agent. Resolves when the line is quiet. */
  async dial(name: string): Promise<TalkingLine> {
    const line = await TalkingLine.open(this.gateway.sipPort)
    await line.call(`sip:desk@${name}.test`)
    await sleep(300)
    return line
  }

  async stop(): Promise<void> {
    await this.gateway.stop()
    await this.standIns.close()
    await this.words.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

const pollMs = 4

/** Waits for the first packet with sound since a time; undefined after `maxMs`. */
export const hears = async (
  line: TalkingLine,
  since: number,
  maxMs = 5000,
  thresholdDb = silentDb,
): Promise<HeardPacket | undefined> => {
  const until = performance.now() + maxMs
  while (performance.now() < until) {
    const packet = firstLoud(line.packets, since, thresholdDb)
    if (packet) return packet
    await sleep(pollMs)
  }
  return undefined
}

/** Waits until nothing was heard for a time, at most `maxMs`. */
export const isQuiet = async (line: TalkingLine, quietMs = 200, maxMs = 10_000): Promise<void> => {
  const until = performance.now() + maxMs
  const count = quietMs / 20
  while (performance.now() < until) {
    const last = line.packets.slice(-count)
    if (last.length === count && last.every(({ db }) => db <= silentDb)) return
    await sleep(pollMs)
  }
}

/** Waits a time that changes the phase of the packets of both sides. */
export const pause = (ms: number): Promise<void> => sleep(ms + 40 * Math.random())

/** Runs a measurement on a stage. */
export const onStage = async (options: StageOptions, run: (stage: Stage) => Promise<void>): Promise<void> => {
  const stage = await Stage.start(options)
  try {
    await run(stage)
  } finally {
    await stage.stop()
  }
}
