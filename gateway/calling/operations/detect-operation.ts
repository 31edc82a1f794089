import type { DetectOptions, DetectResult, Finding, MachineOptions } from '../../../handlers/verbs.ts'
import { Fields } from './command-fields.ts'
import { isOver, type OperationCall } from './operation-types.ts'
import { VerbOperation } from './verb-operation.ts'

/** Target of a detection, by its wire name. */
export interface DetectCommand {
  readonly type: 'machine' | 'fax' | 'digit'
  readonly options: DetectOptions
}

/**
 * Reads `calling.detect`. The detection of a machine lasts to the end of its greeting, as the client does not
 * say whether it waits for that.
 */
export const readDetect = (params: Fields): DetectCommand => {
  const detect = params.fields('detect')
  const type = detect?.oneOf('type', ['machine', 'fax', 'digit'] as const)
  if (!detect || !type) throw params.wrong('detect', 'an object with type machine, fax or digit')
  const more = detect.fields('params') ?? new Fields({}, 'detect.params')
  const timeoutMs = params.seconds('timeout')
  return { type, options: { ...readers[type](more), ...(timeoutMs !== undefined && { timeoutMs }) } }
}

const readers: Readonly<Record<DetectCommand['type'], (params: Fields) => DetectOptions>> = {
  machine: (params) => ({ machine: readMachine(params) }),
  fax: (params) => ({ fax: params.oneOf('tone', ['CED', 'CNG'] as const) ?? 'CED' }),
  digit: (params) => ({ digits: params.text('digits') ?? '0123456789*#' }),
}

const readMachine = (params: Fields): MachineOptions => {
  const fields = {
    initialTimeoutMs: params.seconds('initial_timeout'),
    endSilenceMs: params.seconds('end_silence_timeout'),
    readyTimeoutMs: params.seconds('machine_ready_timeout'),
    voiceThresholdMs: params.seconds('machine_voice_threshold'),
    wordsThreshold: params.integer('machine_words_threshold', 1, 100),
  }
  return {
    ...Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined)),
    waitForEnd: true,
  }
}

/** `calling.detect`: every finding, then `finished` or `error`. */
export class DetectOperation extends VerbOperation {
  readonly kind = 'detect'
  readonly #request: DetectCommand
  #hasResult = false

  constructor(call: OperationCall, id: string, request: DetectCommand) {
    super(call, id)
    this.#request = request
  }

  async run(): Promise<void> {
    try {
      const options = { ...this.#request.options, onFinding: (finding: Finding) => this.#finding(finding) }
      const result = await this.call.control.detect({ ...options, signal: this.abort.signal })
      if (!this.#hasResult) this.#result(result)
      this.#send('finished')
    } catch (error) {
      this.#send(isOver(error, this.abort.signal) ? 'finished' : 'error')
    }
  }

  #finding(finding: Finding): void {
    this.#hasResult = true
    if (finding.kind === 'ready') this.#send('READY', finding.beep)
    else if (finding.kind === 'notReady') this.#send('NOT_READY')
    else if (finding.kind === 'fax') this.#send(finding.tone)
    else this.#send(finding.kind === 'digit' ? finding.digit : finding.kind.toUpperCase())
  }

  #result({ kind, tone, digit }: DetectResult): void {
    if (kind !== 'none') this.#send(tone ?? digit ?? kind.toUpperCase())
  }

  #send(event: string, beep?: boolean): void {
    const detect = { type: this.#request.type, params: { event, ...(beep !== undefined && { beep }) } }
    this.sendEvent('detect', { detect })
  }
}
