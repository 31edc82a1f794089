import type { CallLine } from '../line/call-line.ts'
import { pauseMs } from '../line/line-audio.ts'
import type { Speech, Step } from '../scenario/scenario.ts'
import { type Span, soundIn } from '../scores/activity.ts'
import type { CallerSound, SoundKind } from '../scores/call-scores.ts'
import { cough } from '../sound/signals.ts'
import type { Prompter } from '../target/open-target.ts'

/** Line of a caller, as far as its steps need it. */
export type StepLine = Pick<CallLine, 'ms' | 'isEnded' | 'hasKeys' | 'frame' | 'say' | 'press' | 'change'> & {
  readonly voice: Pick<CallLine['voice'], 'lastMs' | 'spokenMs'>
}

/** Collaborators of {@link perform}. */
export interface StepDeps {
  readonly line: StepLine
  /** Returns the samples of speech at 8 kHz. */
  readonly samplesOf: (speech: Speech) => Int16Array
  /** Absent if the engines understand by themselves. */
  readonly prompt?: Prompter
}

/** Result of the steps of a caller. */
export interface Performance {
  readonly sounds: readonly CallerSound[]
  /** Sentences about steps that could not be performed. */
  readonly problems: readonly string[]
}

/** Level in dBov from which a sound of the caller counts as voice: the first threshold of the gateway. */
const voicedDb = -45

/**
 * Performs the steps of a caller on a line, up to `hangup` or the end of the call. Never rejects for a step
 * that fails; rejects if the stand-ins cannot be reached.
 */
export const perform = async (steps: readonly Step[], deps: StepDeps): Promise<Performance> => {
  const caller = new StepRunner(deps)
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'hangup') break
    if (deps.line.isEnded) {
      caller.ended(steps.slice(index), index + 1)
      break
    }
    await caller.run(step, index + 1)
  }
  return { sounds: caller.sounds, problems: caller.problems }
}

/** Runs steps one after the other. */
class StepRunner {
  readonly sounds: CallerSound[] = []
  readonly problems: string[] = []
  readonly #deps: StepDeps
  /** Time from which the agent's voice counts as an answer. */
  #listensFromMs = 0
  #turn = 0
  /** Whether the next words go on with the turn before. */
  #isTurnOpen = false
  /** Words of the stand-ins' next turn. */
  #prompted = ''

  constructor(deps: StepDeps) {
    this.#deps = deps
  }

  /** Runs a step; `number` is its place in the list, from 1. */
  async run(step: Step, number: number): Promise<void> {
    const { line } = this.#deps
    if (step.kind === 'say') await this.#say(step.speech)
    else if (step.kind === 'pause') await this.#until(() => false, step.ms)
    else if (step.kind === 'wait') await this.#wait(step, number)
    else if (step.kind === 'keys') await this.#press(step.digits, number)
    else if (step.kind === 'cough' || step.kind === 'over' || step.kind === 'interrupt')
      await this.#over(step, number)
    else if (step.kind !== 'hangup') line.change(step)
  }

  /** Reports the steps that the end of the call has prevented. */
  ended(left: readonly Step[], number: number): void {
    const needed = left.find(({ kind }) => kind !== 'wait' && kind !== 'pause' && kind !== 'hangup')
    const isWaiting = left.some((step) => step.kind === 'wait' && step.for === 'agent')
    if (needed || isWaiting) this.problems.push(`Step ${number}: the call had ended before.`)
  }

  async #say(speech: Speech): Promise<void> {
    this.#takeTurn()
    await this.#prompt(speech.text, true)
    await this.#sound('turn', speech.text, this.#deps.samplesOf(speech))
    this.#isTurnOpen = true
  }

  async #press(digits: string, number: number): Promise<void> {
    const { line } = this.#deps
    if (!line.hasKeys) {
      this.problems.push(`Step ${number}: the agent's side takes no keys (telephone-event).`)
      return
    }
    this.#takeTurn()
    const span = await line.press(digits)
    this.#add('keys', digits, span)
    this.#isTurnOpen = true
  }

  #takeTurn(): void {
    if (!this.#isTurnOpen) this.#turn++
  }

  async #over(step: Extract<Step, { kind: 'cough' | 'over' | 'interrupt' }>, number: number): Promise<void> {
    const { line } = this.#deps
    this.#isTurnOpen = false
    const speaks = () => line.voice.spokenMs(line.ms) >= step.afterMs
    if (!(await this.#until(speaks, step.withinMs)))
      this.problems.push(`Step ${number}: the agent did not speak for ${step.afterMs} ms.`)
    if (line.isEnded) return
    if (step.kind === 'cough') {
      await this.#prompt('', false)
      await this.#sound('cough', 'cough', cough(step.ms, number))
      return
    }
    const { speech } = step
    await this.#prompt(speech.text, false)
    if (step.kind === 'over') await this.#sound('acknowledgement', speech.text, this.#deps.samplesOf(speech))
    else {
      this.#takeTurn()
      await this.#sound('interruption', speech.text, this.#deps.samplesOf(speech))
      this.#isTurnOpen = true
    }
  }

  /** Sends words to the stand-ins. Words of the same turn that no turn took are joined. */
  async #prompt(text: string, isSameTurn: boolean): Promise<void> {
    const { prompt } = this.#deps
    if (!prompt) return
    const before = this.#prompted
    this.#prompted = text
    const wasUnused = await prompt(text)
    if (!wasUnused || !isSameTurn || !this.#isTurnOpen || before === '') return
    this.#prompted = `${before} ${text}`
    await prompt(this.#prompted)
  }

  async #sound(kind: SoundKind, text: string, samples: Int16Array): Promise<void> {
    const span = await this.#deps.line.say(samples)
    const voiced = soundIn(samples, voicedDb)
    this.#add(
      kind,
      text,
      voiced
        ? { fromMs: span.fromMs + voiced.fromMs, toMs: Math.min(span.toMs, span.fromMs + voiced.toMs) }
        : span,
    )
  }

  #add(kind: SoundKind, text: string, { fromMs, toMs }: Span): void {
    this.sounds.push({ kind, text, fromMs, toMs, turn: this.#turn })
    if (kind !== 'acknowledgement' && kind !== 'cough') this.#listensFromMs = toMs
  }

  async #wait(step: Extract<Step, { kind: 'wait' }>, number: number): Promise<void> {
    const { line } = this.#deps
    this.#isTurnOpen = false
    const from = this.#listensFromMs
    const isDone = (): boolean =>
      step.for === 'agent' && line.voice.lastMs > from && line.ms - line.voice.lastMs >= pauseMs
    const isReached = await this.#until(isDone, step.withinMs)
    this.#listensFromMs = line.ms
    if (isReached || (step.for === 'end' && line.isEnded)) return
    const what = step.for === 'end' ? 'hang up' : line.voice.lastMs > from ? 'finish speaking' : 'speak'
    const when = line.isEnded ? 'before the end of the call' : `within ${step.withinMs / 1000} s`
    this.problems.push(`Step ${number}: the agent did not ${what} ${when}.`)
  }

  /** Waits for a condition, at most `ms`. Resolves with whether it came true. */
  async #until(isDone: () => boolean, ms: number): Promise<boolean> {
    const { line } = this.#deps
    const endMs = line.ms + ms
    while (!line.isEnded) {
      if (isDone()) return true
      if (line.ms >= endMs) return false
      await line.frame()
    }
    return isDone()
  }
}
