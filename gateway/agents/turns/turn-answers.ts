/** Wait for any sound or function of an answer, in ms, until the engine is asked again. */
const answerMs = 5000
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

/** Fault of an answer: the engine is asked again, or the answer is given up. */
export type AnswerFault = 'revive' | 'give-up' | 'finished'

/** Answers in progress, and the answers that were asked for and have not begun. Times are uptimes in ms. */
export class Answers {
  #list: Answer[] = []
  readonly #functions = new Set<string>()
  #revivals = 0
  #progressAt = 0
  #dryAt: number | undefined
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

  /** Something happened: the watch for a stuck answer begins again. */
  progress(now: number): void {
    this.#progressAt = now
    if (this.#dryAt !== undefined) this.#dryAt = now
  }

  began(id: string, isInterruptible: boolean, now: number): void {
    if (this.#list.some((answer) => answer.id === id)) return
    if (!this.isExpected) this.isPlainReply = false
    this.isExpected = false
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
    if (isAll) this.#functions.clear()
  }

  /** Time at which the present wait has lasted too long. */
  get dueAt(): number {
    if (this.hasFunction) return this.#progressAt + maxFunctionMs
    if (this.isAudible) return this.#progressAt + maxSpeechMs
    // Its sound may wait behind a long filler; `played` ends an answer without sound.
    const isDelivered = this.#list.length > 0 && this.#list.every((answer) => answer.isDelivered)
    return this.#progressAt + (isDelivered && !this.isExpected ? maxSpeechMs : answerMs)
  }

  /** The wait has lasted too long: returns the consequence. */
  overdue(now: number): AnswerFault {
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
