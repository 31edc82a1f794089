/** Usual wait for any sound or function of an answer, in ms, until the engine is asked again. */
const usualAnswerMs = 5000
/** Times that the engine is asked again before the answer is given up. */
const maxRevivals = 2
/** Longest function, in ms: the runner of functions has a shorter limit. */
const maxFunctionMs = 300_000
/** Longest time without any event of a speaking agent, in ms: longer than the queue of a tap. */
const maxSpeechMs = 180_000

/** Answer that the engine has begun and the caller has not heard to its end. */
interface Answer {
  readonly id: string
  readonly isInterruptible: boolean
  hasSound: boolean
  isDelivered: boolean
}

/** Fault of an answer: the engine is asked again, or the answer is given up. `none`: it still sounds. */
export type AnswerFault = 'revive' | 'give-up' | 'finished' | 'none'

/** Answers in progress, and the answers that were asked for and have not begun. Times are uptimes in ms. */
export class Answers {
  #list: Answer[] = []
  readonly #functions = new Set<string>()
  #revivals = 0
  #progressAt = 0
  #dryAt: number | undefined
  /** Time at which the audio so far has left; undefined without audio. */
  #soundUntil: number | undefined
  #pausedAt: number | undefined
  /** Whether the engine was asked for an answer that has not begun. */
  isExpected = false
  /** Whether the answer is one to the caller's last turn, without a function so far. */
  isPlainReply = false
  /** Time of its first sound. */
  soundAt: number | undefined

  get hasFunction(): boolean {
    return this.#functions.size > 0
  }

  /** Whether an answer is in progress or will come. */
  get isBusy(): boolean {
    return this.isExpected || this.#list.length > 0 || this.hasFunction
  }

  /** Whether words of an answer are still to be heard, or to come without a function. */
  get hasWords(): boolean {
    return this.isExpected || this.#list.length > 0
  }

  /** Whether the caller has heard something of an answer in progress. */
  get isSounding(): boolean {
    return this.#list.some(({ hasSound }) => hasSound)
  }

  /** Whether the caller hears an answer now, as far as is known. */
  get isAudible(): boolean {
    return this.isSounding && this.#dryAt === undefined
  }

  /** Whether the caller can interrupt: decided by the answer that is being heard. */
  get isInterruptible(): boolean {
    return this.#list[0]?.isInterruptible ?? true
  }

  /** The engine was asked for an answer. */
  expect(now: number, isReply: boolean): void {
    this.isExpected = true
    this.isPlainReply = isReply
    this.#revivals = 0
    this.soundAt = undefined
    this.progress(now)
  }

  /** The engine was asked for an answer that is no reply, perhaps during another one. */
  ask(now: number): void {
    this.isExpected = true
    this.isPlainReply = false
    this.progress(now)
  }

  /** Something happened: the watch for a stuck answer begins again. */
  progress(now: number): void {
    this.#progressAt = now
    if (this.#dryAt !== undefined) this.#dryAt = now
  }

  /** An answer begins. `isAwaited`: it is the one that the engine was asked for. */
  began(id: string, isInterruptible: boolean, now: number, isAwaited: boolean): void {
    if (this.#list.some((answer) => answer.id === id)) return
    if (!this.isExpected || !isAwaited) this.isPlainReply = false
    if (isAwaited) this.isExpected = false
    this.#list.push({ id, isInterruptible, hasSound: false, isDelivered: false })
    this.progress(now)
  }

  /** First sound of an answer: earlier answers were heard to their end. Returns false if it is unknown. */
  sounded(id: string, now: number): boolean {
    const at = this.#list.findIndex((answer) => answer.id === id)
    if (at < 0) return false
    this.#list = this.#list.filter((answer, i) => i >= at || !answer.isDelivered)
    for (const answer of this.#list) if (answer.id === id) answer.hasSound = true
    this.soundAt ??= now
    this.#dryAt = undefined
    this.#revivals = 0
    this.progress(now)
    return true
  }

  /** Audio of an answer was queued, of a duration in ms. Returns whether it is the first. */
  queued(id: string, ms: number, now: number): boolean {
    if (!this.#list.some((answer) => answer.id === id)) return false
    const isFirst = this.#soundUntil === undefined
    this.#soundUntil = Math.max(this.#pausedAt ?? now, this.#soundUntil ?? 0) + ms
    return isFirst
  }

  /** The audio waits from now on. */
  paused(now: number): void {
    this.#pausedAt ??= now
  }

  /** The audio goes on. */
  resumed(now: number): void {
    if (this.#pausedAt === undefined) return
    if (this.#soundUntil !== undefined && this.#soundUntil > this.#pausedAt)
      this.#soundUntil += now - this.#pausedAt
    this.#pausedAt = undefined
    this.progress(now)
  }

  delivered(id: string, now: number): void {
    for (const answer of this.#list) if (answer.id === id) answer.isDelivered = true
    this.progress(now)
  }

  /** Everything queued was heard: delivered answers are over. */
  played(now: number): void {
    this.#list = this.#list.filter(({ isDelivered }) => !isDelivered)
    this.#dryAt = this.isSounding ? now : undefined
    this.progress(now)
  }

  functionBegan(id: string, now: number): void {
    this.#functions.add(id)
    this.isPlainReply = false
    this.#revivals = 0
    this.progress(now)
  }

  /** Returns false if the function is unknown, for instance because an interruption ended it. */
  functionEnded(id: string, isAnswered: boolean, now: number): boolean {
    if (!this.#functions.delete(id)) return false
    if (isAnswered) this.isExpected = true
    this.progress(now)
    return true
  }

  /** Everything is dropped. `isAll`: running functions, too. */
  drop(isAll: boolean): void {
    this.#list = []
    this.isExpected = false
    this.isPlainReply = false
    this.soundAt = undefined
    this.#dryAt = undefined
    this.#soundUntil = undefined
    this.#pausedAt = undefined
    if (isAll) this.#functions.clear()
  }

  /** Time at which the present wait has lasted too long; undefined if `answerMs` is 0, for no limit. */
  dueAt(answerMs = usualAnswerMs): number | undefined {
    if (this.hasFunction) return this.#progressAt + maxFunctionMs
    if (this.isAudible) {
      // Nothing tells that the queue of an answer that goes on has run dry.
      const isOpen = this.#soundUntil !== undefined && !this.#isDelivered
      if (isOpen) return answerMs > 0 ? Math.max(this.#progressAt, this.#soundUntil!) + answerMs : undefined
      return this.#progressAt + maxSpeechMs
    }
    // Its sound may wait behind a long filler; `played` ends an answer without sound.
    if (this.#isDelivered && !this.isExpected) return this.#progressAt + maxSpeechMs
    return answerMs > 0 ? this.#progressAt + answerMs : undefined
  }

  get #isDelivered(): boolean {
    return this.#list.length > 0 && this.#list.every(({ isDelivered }) => isDelivered)
  }

  /** The wait has lasted too long: returns the consequence. */
  overdue(now: number, answerMs: number | undefined): AnswerFault {
    // More audio came since the wait began.
    const dueAt = this.dueAt(answerMs)
    if (dueAt === undefined || now < dueAt) return 'none'
    if (this.isAudible && !this.hasFunction && !this.#isDelivered) return 'give-up'
    const isStuck = !this.isAudible && !this.hasFunction
    const isSilent = !this.isExpected && this.#list.every(({ isDelivered }) => isDelivered)
    if (!isStuck || isSilent) return 'finished'
    // An answer that stopped in the middle is not asked for again.
    if (this.#dryAt !== undefined || this.#revivals >= maxRevivals) return 'give-up'
    this.#revivals++
    // The answer in progress is replaced: what comes of it later is not counted.
    this.#list = []
    this.isExpected = true
    this.progress(now)
    return 'revive'
  }
}
