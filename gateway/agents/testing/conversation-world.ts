import type { AgentEvent, AgentFunctionCall, AgentFunctionResult } from '../../../handlers/verbs.ts'
import type { MediaPort } from '../../../media/types.ts'
import { FakeClock } from '../../core/clock.ts'
import { Conversation } from '../conversation.ts'
import type { EngineCall, EngineFailure } from '../engine.ts'
import { wordsOf } from '../text/words.ts'
import { type ConversationChanges, conversationOptions } from './conversation-rig.ts'
import { type ActedAnswer, EngineActor } from './engine-actor.ts'
import { type FakeAbilities, FakeEngine } from './fake-engine.ts'
import { PlayingTap } from './playing-tap.ts'

type Answered = Extract<AgentEvent, { kind: 'answer' }>

/** Call of a function, with what became of it. */
export interface WorldCall {
  readonly call: EngineCall
  /** Whether it came of an answer that had been discarded. */
  readonly isVoid: boolean
}

/** Function that runs. */
interface Running {
  readonly call: AgentFunctionCall
  readonly end: (result: AgentFunctionResult) => void
}

const frameMs = 20
/** Wait of the conversation for an answer that speaks a text, in ms. */
const maxTextMs = 15_000
const lost: EngineFailure = { kind: 'connection', message: 'lost', part: 'fake' }
const lookUp = { name: 'look_up', description: 'Looks up.', parameters: {} }

/** Conversation with engines, a caller and a tap that behave like real ones, in the time of a test. */
export class ConversationWorld {
  readonly clock = new FakeClock()
  readonly tap = new PlayingTap()
  readonly events: AgentEvent[] = []
  readonly errors: unknown[] = []
  readonly faults: string[] = []
  readonly calls: WorldCall[] = []
  /** Arguments of the functions that ran; each call has its own. */
  readonly ran: string[] = []
  /** Results that each session got: ids of calls, and messages about calls of other sessions. */
  readonly results = new Map<EngineActor, string[]>()
  /** Number of waits for a text or for silence that have not ended. */
  pending = 0
  readonly conversation: Conversation
  readonly engines: readonly FakeEngine[]
  isLeaving = false
  isVoiced = false
  running: Running[] = []
  readonly #actors = new Map<unknown, EngineActor>()
  /** Items of the tap by the answer that they belong to. */
  readonly #items = new Map<ActedAnswer, Set<number>>()
  readonly #answers = new Map<string, ActedAnswer>()
  readonly #void = new Set<ActedAnswer>()
  /** Answers that may be heard after the agent has decided to leave, and the number of those to come. */
  readonly #lastWords = new Set<ActedAnswer>()
  readonly #owing = new Map<EngineActor, number>()
  readonly #openedAt: number
  readonly #knowsTexts: boolean
  #words = 0

  constructor(
    abilities: FakeAbilities,
    knowsTexts: boolean,
    { turns, ...changes }: ConversationChanges = {},
  ) {
    this.engines = [new FakeEngine('one', abilities), new FakeEngine('two', abilities)]
    this.#knowsTexts = knowsTexts
    this.#openedAt = this.clock.now()
    const options = conversationOptions()
    const port = { id: 'port', tap: () => this.tap } as Partial<MediaPort> as MediaPort
    this.#watchCuts()
    this.conversation = new Conversation(
      port,
      {
        ...options,
        functions: [lookUp],
        turns: { ...options.turns, ...turns },
        runFunction: (call) => {
          this.ran.push(call.args)
          return new Promise((end) => this.running.push({ call, end }))
        },
        onEvent: (event) => this.events.push(event),
        ...changes,
      },
      {
        id: 'agent',
        projectId: 'project',
        engines: this.engines,
        clock: this.clock,
        functionTimeoutMs: 20_000,
        warnings: [],
        loadSound: () => Promise.reject(new Error('no sound')),
        render: async (text, rate) => new Int16Array((text.length * rate) / 20),
        complete: async () => '',
        observer: {
          onEngineFailure: () => {},
          onResponse: () => {},
          onInterruption: () => {},
          onSound: () => {},
          onError: (error) => this.errors.push(error),
        },
      },
    )
  }

  /** Engine of the session that hears; undefined without one. */
  get actor(): EngineActor | undefined {
    return this.#present[0]
  }

  /** Sessions that are open, each with its engine. */
  get #present(): readonly EngineActor[] {
    return this.engines
      .flatMap(({ links }) => links.filter(({ isClosed }) => !isClosed))
      .map((link) => this.#actors.get(link) ?? this.#act(link))
  }

  get isOver(): boolean {
    return this.events.some(({ kind }) => kind === 'ended')
  }

  /** Ends of answers so far. */
  get answered(): readonly Answered[] {
    return this.events.filter((event) => event.kind === 'answer')
  }

  /** Returns a word that was not used before. */
  readonly word = (): string => `w${++this.#words}`

  /** Everything that was begun without a timer is done, in the conversation and in the engines. */
  async settle(): Promise<void> {
    await new Promise(setImmediate)
    for (const actor of this.#present) actor.read()
  }

  /** Lets time pass: the tap plays, and its events come with the next frame. */
  async passes(ms: number): Promise<void> {
    if (ms > maxTextMs) for (const actor of this.#present) actor.forgetTexts()
    for (let left = ms; left > 0; left -= frameMs) {
      this.tap.deliver()
      this.tap.frame()
      this.clock.advance(frameMs)
      await this.settle()
    }
  }

  /** All sessions that are being opened are ready. */
  ready(): void {
    for (const actor of this.#present) actor.ready()
  }

  /** The session that hears fails. */
  fail(): void {
    this.#discardAll()
    this.actor?.link.listener.onFailure(lost)
  }

  /** The server announces the end of its session. */
  close(inMs: number): void {
    this.actor?.link.listener.onClosing(inMs)
  }

  voice(isVoiced: boolean): void {
    if (isVoiced === this.isVoiced) return
    this.isVoiced = isVoiced
    this.tap.voice(isVoiced, this.clock.now() - this.#openedAt)
  }

  heard(text: string, isFinal: boolean): void {
    this.actor?.link.listener.onHeard({ text, isFinal })
  }

  say(text: string): void {
    this.#await(this.conversation.say(text))
  }

  /** The oldest function that runs ends. */
  finishFunction(respond: boolean): void {
    const first = this.running.shift()
    first?.end({ text: `Found ${first.call.args}.`, respond })
  }

  /** The agent leaves after its last words. */
  leave(): void {
    if (this.isLeaving) return
    this.isLeaving = true
    const { actor } = this
    if (actor?.answer) this.#lastWords.add(actor.answer)
    // An interruption can reach the engine after the turn that it answers: it forgets that answer, and gives
    // the next one in its place.
    if (actor?.isReady) this.#owing.set(actor, Math.max(actor.asked.length, this.#isUnanswered ? 1 : 0))
    this.conversation.stop()
  }

  /** Whether the caller's latest turn has no answer yet. */
  get #isUnanswered(): boolean {
    return this.events.findLast(({ kind }) => kind === 'user' || kind === 'answer')?.kind === 'user'
  }

  /** Waits for silence. */
  quiet(): void {
    this.#await(this.conversation.quiet())
  }

  #await(work: Promise<unknown>): void {
    this.pending++
    void work.then(() => this.pending--)
  }

  /** Returns the audio of an answer that left, and that was given, in ms; undefined if it is unknown. */
  audioOf(answer: string): { readonly playedMs: number; readonly sentMs: number } | undefined {
    // The conversation puts the number of the session first.
    const acted = this.#answers.get(answer.slice(answer.indexOf('.') + 1))
    if (!acted) return undefined
    const items = [...(this.#items.get(acted) ?? [])]
    const sum = (of: ReadonlyMap<number, number>) =>
      items.reduce((total, item) => total + (of.get(item) ?? 0) / 8, 0)
    return { playedMs: sum(this.tap.heard), sentMs: sum(this.tap.sent) }
  }

  #act(link: FakeEngine['link']): EngineActor {
    const actor = new EngineActor(
      link,
      {
        onCommand: (of, command) => this.#command(of, command),
        onAudio: (answer, _, give) => this.#audio(answer, give),
        onCall: (answer, call, give) => {
          this.calls.push({ call, isVoid: this.#void.has(answer) })
          give()
        },
      },
      this.#knowsTexts,
      this.word,
    )
    this.#actors.set(link, actor)
    return actor
  }

  #audio(answer: ActedAnswer, give: () => void): void {
    const before = new Map(this.tap.sent)
    give()
    for (const [item, samples] of this.tap.sent) {
      if (samples === before.get(item)) continue
      this.#items.set(answer, (this.#items.get(answer) ?? new Set()).add(item))
      if (this.#void.has(answer)) this.faults.push('audio of a discarded answer')
      if (this.isOver) this.faults.push('audio after the end')
      if (this.isLeaving) this.#checkLast(answer)
    }
    this.#answers.set(answer.id, answer)
  }

  #checkLast(answer: ActedAnswer): void {
    if (this.#lastWords.has(answer)) return
    this.#lastWords.add(answer)
    const { actor } = this
    if (!actor) return
    // A session that was opened since then owes what the former one did not give.
    const owed = this.#owing.get(actor) ?? 1
    if (owed === 0) this.faults.push('an answer after leaving')
    this.#owing.set(actor, owed - 1)
  }

  #command(actor: EngineActor, [name, ...values]: readonly unknown[]): void {
    if (this.isOver) this.faults.push(`command after the end: ${String(name)}`)
    if (name === 'commit') {
      if (this.isLeaving) this.faults.push('a turn after leaving')
      if (actor.answer && !actor.answer.isText) this.faults.push('a turn during an answer')
      if (actor.asked.includes(undefined) && actor.link.abilities.turns === 'ours')
        this.faults.push('a second answer asked for')
    }
    if (name === 'result') this.#result(actor, String(values[0]))
    else if (name === 'message' && String(values[1]).includes('Found')) this.#result(actor, String(values[1]))
  }

  #result(actor: EngineActor, of: string): void {
    const known = this.results.get(actor) ?? []
    if (known.includes(of)) this.faults.push('a second result')
    this.results.set(actor, [...known, of])
  }

  /** Notes which answers an interruption discards. */
  #watchCuts(): void {
    const cut = this.tap.cut.bind(this.tap)
    this.tap.cut = () => {
      this.#discardAll()
      return cut()
    }
  }

  #discardAll(): void {
    for (const actor of this.#actors.values()) {
      if (actor.answer) this.#void.add(actor.answer)
      for (const answer of actor.cancelled) this.#void.add(answer)
    }
  }
}

/** Whether the words of a text are the first words of another one. */
export const isBeginning = (text: string, whole: string): boolean => {
  const words = wordsOf(whole)
  return wordsOf(text).every((word, i) => word === words[i])
}
