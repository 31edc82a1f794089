import type { HandlerContext } from '../handler.ts'
import type { CallControl, CollectResult, PlayOptions, Sound, SpeechOptions } from '../verbs.ts'
import { CallEnded, VerbFailed } from '../verbs.ts'
import { codes } from './codes.ts'
import { connectOptions } from './connect.ts'
import type { ScriptStep } from './document.ts'
import { ScriptRecordings } from './recording.ts'
import { Values } from './values.ts'
import type { Variables } from './variables.ts'

const oneDayMs = 86_400_000

/** Runs the steps of one script on one call. */
export class ScriptRun {
  #call: CallControl
  #context: HandlerContext
  #variables: Variables
  #recordings: ScriptRecordings

  constructor(call: CallControl, context: HandlerContext, variables: Variables) {
    this.#call = call
    this.#context = context
    this.#variables = variables
    this.#recordings = new ScriptRecordings(call)
  }

  /** Runs every step. */
  async run(steps: readonly ScriptStep[]): Promise<void> {
    for (const step of steps) {
      if (this.#call.signal.aborted) throw new CallEnded()
      await this.#tryStep(step)
    }
  }

  /** A method that cannot do its work is noted, its result says so, and the next step has its turn. */
  async #tryStep(step: ScriptStep): Promise<void> {
    try {
      await this.#runStep(step.method, new Values(step.parameters, this.#variables))
    } catch (error) {
      if (!(error instanceof VerbFailed)) throw error
      this.#context.warn({ code: error.code, message: error.message, path: step.path })
      this.#set({ [`${step.method}_result`]: 'failed' })
      if (step.method === 'connect') this.#set({ connect_failed_reason: 'error', return_value: 'failed' })
    }
  }

  async #runStep(method: string, values: Values): Promise<void> {
    switch (method) {
      case 'answer': {
        const maxDurationMs = values.seconds('max_duration')
        return this.#call.answered
          ? undefined
          : this.#call.answer(maxDurationMs === undefined ? {} : { maxDurationMs })
      }
      case 'hangup':
        await this.#call.hangup(hangupReason(values.text('reason')))
        throw new CallEnded()
      case 'play':
        await this.#call.play(playOptions(values, values.has('url') ? 'url' : 'urls'))
        return this.#set({ play_result: 'success' })
      case 'prompt':
        return this.#prompt(values)
      case 'sleep':
        return this.#sleep(values.number('duration') ?? 0)
      case 'send_digits':
        await this.#call.sendDigits(values.text('digits') ?? '')
        return this.#set({ send_digits_result: 'success' })
      case 'connect':
        return this.#connect(values)
      case 'record':
        return this.#recordings.record(values, (variables) => this.#set(variables))
      case 'record_call':
        return this.#set(await this.#recordings.recordCall(values))
      case 'stop_record_call':
        return this.#set(await this.#recordings.stopRecordCall(values))
      default:
        throw new VerbFailed(codes.methodFailed, `The method ${method} is not known.`)
    }
  }

  async #sleep(ms: number): Promise<void> {
    if (ms >= 0) return this.#call.sleep(ms)
    for (;;) await this.#call.sleep(oneDayMs)
  }

  async #prompt(values: Values): Promise<void> {
    const terminators = values.text('terminators')
    const initialTimeoutMs = values.seconds('initial_timeout')
    const interDigitTimeoutMs = values.seconds('digit_timeout')
    const speech = speechOptions(values)
    const result = await this.#call.collect({
      prompt: playOptions(values, 'play'),
      ...(speech && { speech, digits: ofDigits.some((name) => values.has(name)) }),
      maxDigits: values.number('max_digits') ?? 1,
      ...(terminators !== undefined && { terminators }),
      ...(initialTimeoutMs !== undefined && { initialTimeoutMs }),
      ...(interDigitTimeoutMs !== undefined && { interDigitTimeoutMs }),
    })
    this.#set(promptVariables(result))
  }

  async #connect(values: Values): Promise<void> {
    const result = await this.#call.connect(connectOptions(values))
    this.#set({
      connect_result: result.kind,
      return_value: result.kind,
      connect_failed_reason: result.kind === 'failed' ? result.reason.replace('-', '_') : undefined,
    })
    if (result.kind === 'connected' && result.endedBy === 'caller') throw new CallEnded()
  }

  #set(variables: Readonly<Record<string, unknown>>): void {
    Object.assign(this.#variables.vars, variables)
  }
}

/** Parameters of a prompt that mean that digits are collected beside speech. */
const ofDigits = ['max_digits', 'terminators', 'digit_timeout']
const ofSpeech = ['speech_timeout', 'speech_end_timeout', 'speech_language', 'speech_hints']

const speechOptions = (values: Values): SpeechOptions | undefined => {
  if (!ofSpeech.some((name) => values.has(name))) return undefined
  const language = values.text('speech_language')
  const hints = values.texts('speech_hints').filter((hint) => hint !== '')
  const endSilenceMs = values.seconds('speech_end_timeout')
  const maxSpeechMs = values.seconds('speech_timeout')
  return {
    ...(language && { language }),
    ...(hints.length > 0 && { hints }),
    ...(endSilenceMs !== undefined && { endSilenceMs }),
    ...(maxSpeechMs !== undefined && { maxSpeechMs }),
  }
}

const promptVariables = (result: CollectResult): Readonly<Record<string, unknown>> => {
  const { reason, digits, terminator = '', speech } = result
  return {
    prompt_result: speech
      ? 'match_speech'
      : digits !== ''
        ? 'match_digits'
        : reason === 'error'
          ? 'failed'
          : 'no_input',
    prompt_value: speech?.text ?? digits,
    prompt_digit_terminator: terminator,
    prompt_speech_confidence: speech?.confidence,
  }
}

const hangupReason = (reason: string | undefined) =>
  reason === 'busy' || reason === 'decline' ? reason : 'hangup'

const playOptions = (values: Values, name: string): PlayOptions => {
  const voice = values.text('say_voice')
  const language = values.text('say_language')
  const sounds: readonly Sound[] = values.sounds(name, {
    ...(voice && { voice }),
    ...(language && { language }),
  })
  const volumeDb = values.number('volume')
  const autoAnswer = values.boolean('auto_answer')
  return {
    sounds,
    ...(volumeDb !== undefined && { volumeDb }),
    ...(autoAnswer !== undefined && { autoAnswer }),
  }
}
