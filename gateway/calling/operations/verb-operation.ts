import type { Operation, OperationCall, OperationKind } from './operation-types.ts'

/** Operation that runs a verb; `Running` is the verb's handle after its start. */
export abstract class VerbOperation<Running = never> implements Operation {
  abstract readonly kind: OperationKind
  protected readonly call: OperationCall
  protected readonly id: string
  /** Fires when the operation is stopped. */
  protected readonly abort = new AbortController()
  /** Undefined before the start of the verb. */
  protected running: Promise<Running> | undefined

  constructor(call: OperationCall, id: string) {
    this.call = call
    this.id = id
  }

  abstract run(): Promise<void>

  stop(): void {
    this.abort.abort()
  }

  /** Runs `task` with the running verb, unless it could not start. */
  protected withRunning(task: (running: Running) => void): void {
    this.running?.then(task, () => {})
  }

  /** Sends an event with the id of the operation. `ends`: recording whose end it reports. */
  protected sendEvent(name: string, params: Readonly<Record<string, unknown>>, ends?: string): void {
    this.call.sendEvent(`calling.call.${name}`, { control_id: this.id, ...params }, ends)
  }
}
