import { contextWith } from '../common/contexts.ts'
import { type DocumentFault, DocumentInvalid, DocumentUnreachable, type HandlerContext } from '../handler.ts'
import type { CallInfo } from '../verbs.ts'
import type { ScriptIds } from './call-object.ts'
import { type SendEvent, StatusEvents } from './events.ts'

/** Faults of one run that are told: a script can come to the same one again and again, for hours. */
const maxFaults = 100

/** Tells whom the state of the call is told what is wrong with its script, by `calling.script.warning`; nobody where that is nobody. */
export class FaultEvents {
  /** Of the run: its faults are told, and go to the call's log as before. */
  readonly context: HandlerContext
  readonly #tell: SendEvent
  #faults = 0

  constructor(context: HandlerContext, info: CallInfo, ids: ScriptIds) {
    const told = context.status ?? { url: undefined }
    this.#tell = new StatusEvents(context, info, ids).sender(told, 'calling.script.warning')
    this.context = contextWith(context, {
      warn: (fault) => {
        this.#fault(fault)
        context.warn(fault)
      },
    })
  }

  /** Runs what throws where the document cannot be had, or cannot run: that is told too. `unreachable` is the code of the former. */
  async reportingRejection<T>(unreachable: string, load: () => Promise<T>): Promise<T> {
    try {
      return await load()
    } catch (error) {
      if (error instanceof DocumentInvalid) for (const fault of error.faults) this.#fault(fault)
      if (error instanceof DocumentUnreachable)
        this.#fault({ code: unreachable, message: error.message, path: '' })
      throw error
    }
  }

  #fault(fault: DocumentFault): void {
    this.#faults++
    if (this.#faults <= maxFaults) this.#tell({ ...fault })
  }
}
