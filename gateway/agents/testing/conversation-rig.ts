import { usualTurns } from '../../../handlers/common/usual-turns.ts'
import type {
  AgentEvent,
  AgentFunctionCall,
  AgentFunctionResult,
  AgentOptions,
} from '../../../handlers/verbs.ts'
import type { MediaPort } from '../../../media/types.ts'
import { FakeClock } from '../../core/clock.ts'
import { Conversation } from '../conversation.ts'
import type { ConversationDeps } from '../conversation-deps.ts'
import type { FakeEngine, FakeLink } from './fake-engine.ts'
import { FakeTap } from './fake-tap.ts'

const turns: AgentOptions['turns'] = {
  ...usualTurns,
  isSemantic: false,
  confidence: 0,
  transparentBargeMs: 0,
  attentionMs: 0,
}

const english = { name: 'English', code: 'en' }

/** Options of a conversation in which the caller speaks first. */
export const conversationOptions = (): AgentOptions => ({
  prompt: 'Be kind.',
  functions: [],
  languages: [english],
  hints: [],
  pronounce: [],
  corrections: [],
  modelSettings: {},
  turns,
  waitForUser: true,
  history: [],
  runFunction: async () => ({ text: 'Done.' }),
  onEvent: () => {},
})

/** Options of a {@link ConversationRig}: those of the document that differ from the usual ones. */
export interface ConversationChanges extends Partial<Omit<AgentOptions, 'turns'>> {
  readonly turns?: Partial<AgentOptions['turns']>
}

/** Function that a test ends. */
export interface StartedFunction {
  readonly call: AgentFunctionCall
  readonly signal: AbortSignal
  end(result: AgentFunctionResult): void
}

/** Conversation on a fake tap with fake engines; a test plays the caller, the engines and the time. */
export class ConversationRig {
  readonly clock = new FakeClock()
  readonly tap = new FakeTap()
  readonly port = { id: 'port', tap: () => this.tap } as Partial<MediaPort> as MediaPort
  /** Metrics: response times in ms, and cuts of answers. */
  readonly responses: number[] = []
  readonly cuts: string[] = []
  readonly events: AgentEvent[] = []
  readonly functions: StartedFunction[] = []
  readonly errors: unknown[] = []
  /** Verdicts of the detector about the caller's sounds. */
  readonly verdicts: string[] = []
  /** Phrases that wait to be rendered; only if `isRenderingLate`. */
  readonly renderings: (() => void)[] = []
  isRenderingLate = false
  readonly conversation: Conversation
  readonly #engines: readonly FakeEngine[]
  readonly #openedAt = this.clock.now()

  constructor(
    engines: readonly FakeEngine[],
    changes: ConversationChanges = {},
    deps: Partial<ConversationDeps> = {},
    isAnswered = true,
  ) {
    this.#engines = engines
    this.conversation = new Conversation(isAnswered ? this.port : undefined, this.#options(changes), {
      ...this.#deps(),
      ...deps,
    })
  }

  /** Latest session of the latest engine that has one. */
  get link(): FakeLink {
    return this.#engines.findLast(({ links }) => links.length > 0)!.link
  }

  /** Events without times, of some kinds. */
  eventsOf<K extends AgentEvent['kind']>(...kinds: K[]): Extract<AgentEvent, { kind: K }>[] {
    return this.events.filter((event): event is Extract<AgentEvent, { kind: K }> =>
      kinds.some((kind) => kind === event.kind),
    )
  }

  /** Kinds of the events so far. */
  get kinds(): string[] {
    return this.events.map(({ kind }) => kind)
  }

  /** The engine is ready. */
  async ready(): Promise<void> {
    this.link.listener.onReady()
    this.clock.advance(0)
    await this.settle()
  }

  /** The caller says something, and its turn ends after the silence. */
  async callerSays(text: string): Promise<void> {
    this.voice(true)
    this.clock.advance(500)
    this.link.listener.onHeard({ text, isFinal: true })
    this.voice(false)
    await this.passes(2000)
  }

  voice(isVoiced: boolean, isFaded = false): void {
    const atMs = this.clock.now() - this.#openedAt
    this.tap.happens(isVoiced ? { kind: 'voice-began', atMs, isFaded } : { kind: 'voice-ended', atMs })
  }

  async passes(ms: number): Promise<void> {
    this.clock.advance(ms)
    await this.settle()
  }

  /** Everything that was queued for the engine is done. */
  async settle(): Promise<void> {
    await new Promise(setImmediate)
  }

  #options({ turns: changed, ...others }: ConversationChanges): AgentOptions {
    return {
      ...conversationOptions(),
      turns: { ...turns, ...changed },
      runFunction: (call, signal) =>
        new Promise((end) => {
          this.functions.push({ call, signal, end })
        }),
      onEvent: (event) => this.events.push(event),
      ...others,
    }
  }

  #deps(): ConversationDeps {
    return {
      id: 'agent',
      projectId: 'project',
      engines: this.#engines,
      clock: this.clock,
      functionTimeoutMs: 20_000,
      warnings: [],
      loadSound: async () => ({ sampleRate: 8000, samples: new Int16Array(new SharedArrayBuffer(1600)) }),
      render: async (text, rate) => {
        if (this.isRenderingLate) await new Promise<void>((resolve) => this.renderings.push(resolve))
        return new Int16Array((text.length * rate) / 20)
      },
      complete: async (_, messages, instruction) => `${instruction} ${messages.length}`,
      observer: {
        onEngineFailure: () => {},
        onResponse: (_, ms) => this.responses.push(ms),
        onInterruption: (how) => this.cuts.push(how),
        onSound: (verdict) => this.verdicts.push(verdict),
        onError: (error) => this.errors.push(error),
      },
    }
  }
}
