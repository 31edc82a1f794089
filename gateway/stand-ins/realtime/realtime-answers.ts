import type { Timer } from '../../core/clock.ts'
import type { ChosenAnswer, Trigger } from '../dialogue.ts'
import { perform } from '../perform.ts'
import { quotedText } from '../quoted-text.ts'
import type { QuirkName } from '../script-types.ts'
import type { SocketCall } from '../stand.ts'
import type { ConversationItem, ConversationItems } from './conversation-items.ts'
import { type Cancellation, RealtimeAnswer } from './realtime-answer.ts'
import { functionsOf, type SessionSettings } from './session-settings.ts'

/** Parts of a session that its answers need. */
export interface AnswersOptions {
  readonly call: SocketCall
  readonly settings: SessionSettings
  readonly items: ConversationItems
  readonly quirks: Set<QuirkName>
  readonly send: (message: Readonly<Record<string, unknown>> & { readonly type: string }) => void
  /** Whether the caller speaks. */
  readonly isHearing: () => boolean
  /** Called if the caller says nothing for `idle_timeout_ms` after an answer. */
  readonly idle: () => void
}

/** Turn of the caller. */
export interface CallerTurn {
  readonly text: string
  readonly speechMs?: number
  readonly isInterruption?: boolean
}

/** Answers of a session: at most one in the conversation at a time. */
export class RealtimeAnswers {
  readonly #options: AnswersOptions
  readonly #all = new Set<RealtimeAnswer>()
  #active: RealtimeAnswer | undefined
  /** Run of the last answer. */
  #run = Promise.resolve()
  #turn = 0
  /** Event that the next answer follows on. */
  #next: Trigger = { on: 'begin' }
  /** Time until which a client in real time plays the last answer, in ms since the Unix epoch. */
  #heardUntil = 0
  #idle: Timer | undefined

  constructor(options: AnswersOptions) {
    this.#options = options
  }

  /** Whether a client in real time still plays an answer. */
  get isHeard(): boolean {
    return this.#active !== undefined || this.#heardUntil > this.#options.call.stand.clock.now()
  }

  /** Remembers a turn, which the next answer follows on. */
  onTurn(turn: CallerTurn): void {
    this.#next = { on: 'turn', turn: ++this.#turn, ...turn }
  }

  /** Remembers the result of a function, which the next answer follows on. */
  onResult(callId: unknown, result: string): void {
    const name = this.#options.items.nameOf(callId) ?? ''
    this.#next = { on: 'result', turn: this.#turn, name, result }
  }

  /** The caller has begun to speak: there is no silence to end. */
  onSpeech(): void {
    this.#idle?.cancel()
  }

  /**
   * Begins an answer to a turn that the server has detected, after the end of an answer that it cancelled.
   */
  answerTurn(): void {
    if (!this.#active) this.create({})
    else if (this.#active.signal.aborted) void this.#run.then(() => this.create({}))
  }

  /** Begins an answer with the options of the client. Returns the id of the active one if that forbids it. */
  create(options: Readonly<Record<string, unknown>>): string | undefined {
    const isInConversation = options.conversation !== 'none'
    if (isInConversation && this.#active) return this.#active.id
    const { call, settings, quirks, send, items } = this.#options
    const modalities = options.output_modalities ?? options.modalities
    const isText = Array.isArray(modalities) ? !modalities.includes('audio') : settings.isText
    const context = {
      call,
      format: settings.output,
      isText,
      quirks,
      send,
      addItem: (item: ConversationItem) => {
        items.add(item)
        send({
          type: 'conversation.item.added',
          previous_item_id: items.before(item.id),
          item: { ...item.value },
        })
      },
      itemDone: (item: ConversationItem) =>
        send({ type: 'conversation.item.done', previous_item_id: items.before(item.id), item: item.value }),
    }
    const answer = new RealtimeAnswer(context, { isInConversation, metadata: options.metadata })
    this.#all.add(answer)
    if (isInConversation) this.#active = answer
    this.#idle?.cancel()
    const run = this.#carryOut(answer, this.#choose(options))
    if (isInConversation) this.#run = run
    return undefined
  }

  /**
   * Returns the answer of the script; quoted words in the instructions of the response are spoken as they
   * are.
   */
  #choose(options: Readonly<Record<string, unknown>>): ChosenAnswer | undefined {
    const { call, settings } = this.#options
    const functions = options.tools === undefined ? settings.functions : functionsOf(options.tools)
    const trigger = this.#next
    this.#next = { on: 'turn', turn: this.#turn, text: '' }
    const quoted = typeof options.instructions === 'string' ? quotedText(options.instructions) : undefined
    if (quoted === undefined)
      return call.stand.dialogue.choose('realtime', trigger, options.tool_choice === 'none' ? [] : functions)
    const say = { kind: 'say', text: '{{text}}', sound: { kind: 'speech' } } as const
    return { actions: [say], variables: { text: quoted }, functions }
  }

  async #carryOut(answer: RealtimeAnswer, chosen: ChosenAnswer | undefined): Promise<void> {
    const { call, send } = this.#options
    const began = call.stand.clock.now()
    try {
      if (chosen) await perform(chosen, answer, call.stand, answer.signal)
    } catch {
      answer.error('server')
    }
    if (!answer.end()) return
    this.#release(answer)
    send({
      type: 'rate_limits.updated',
      rate_limits: [{ name: 'tokens', limit: 40_000, remaining: 39_000, reset_seconds: 1 }],
    })
    if (answer.isInConversation) this.#heard(Math.max(this.#heardUntil, began + answer.audioMs))
  }

  #release(answer: RealtimeAnswer): void {
    this.#all.delete(answer)
    if (this.#active === answer) this.#active = undefined
  }

  /** Waits for the caller, from the end of the audio on. */
  #heard(until: number): void {
    this.#heardUntil = until
    const { call, settings, isHearing, idle } = this.#options
    const idleMs = settings.turnDetection?.idleMs
    if (idleMs === undefined || isHearing()) return
    const { clock } = call.stand
    this.#idle = clock.after(until - clock.now() + idleMs, () => {
      if (!isHearing() && !this.#active) idle()
    })
  }

  /** Ends the active answer. Returns whether there was one. */
  cancel(reason: Cancellation): boolean {
    const answer = this.#active
    this.#heardUntil = 0
    if (!answer) return false
    answer.cancel(reason)
    // An answer that the script left open has no run that would report its end.
    if (answer.isOpen) {
      answer.end()
      this.#release(answer)
    }
    return true
  }

  /** Ends all answers, because the connection is closed. */
  close(): void {
    this.#idle?.cancel()
    for (const answer of this.#all) answer.cancel('client_cancelled')
  }
}
