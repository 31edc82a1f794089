/** Memory of a running Node process without garbage, through its inspector. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../test/support/until.ts'

/** Port that Node opens for its inspector on SIGUSR1. */
const port = 9229
/** Wait for the threads, which report one by one. */
const threadsMs = 300

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly sessionId: string; readonly message?: string }
  readonly result?: Result
  readonly error?: { readonly message: string }
}

type Result = Readonly<Record<string, unknown>>

/** Connection to the inspector (Chrome DevTools Protocol) of a process on this machine. */
class Inspector {
  readonly #socket: WebSocket
  readonly #answers = new Map<string, PromiseWithResolvers<Result>>()
  /** Sessions of the threads. */
  readonly threads: string[] = []
  #last = 0

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(String(data))))
    socket.addEventListener('close', () => {
      for (const { reject } of this.#answers.values()) reject(new Error('the process has ended'))
    })
  }

  /** Calls a method in the main thread, or in the thread of a session. */
  call(method: string, params: object = {}, thread = ''): Promise<Result> {
    const id = ++this.#last
    const request = JSON.stringify({ id, method, params })
    const answer = Promise.withResolvers<Result>()
    this.#answers.set(`${thread} ${id}`, answer)
    if (this.#socket.readyState !== WebSocket.OPEN) answer.reject(new Error('the process has ended'))
    else if (thread)
      this.call('NodeWorker.sendMessageToWorker', { sessionId: thread, message: request }).catch(
        answer.reject,
      )
    else this.#socket.send(request)
    return answer.promise
  }

  close(): void {
    this.#socket.close()
  }

  #receive({ id, method, params, result, error }: Message, thread = ''): void {
    if (method === 'NodeWorker.attachedToWorker') this.threads.push(params!.sessionId)
    else if (method === 'NodeWorker.receivedMessageFromWorker')
      this.#receive(JSON.parse(params!.message!), params!.sessionId)
    const key = `${thread} ${id}`
    if (error) this.#answers.get(key)?.reject(new Error(error.message))
    else this.#answers.get(key)?.resolve(result ?? {})
    this.#answers.delete(key)
  }
}

interface Target {
  readonly webSocketDebuggerUrl: string
}

const targets = async (): Promise<readonly Target[]> => {
  try {
    return (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as readonly Target[]
  } catch {
    return []
  }
}

const open = async (): Promise<Inspector> => {
  const [target] = await until(`the inspector listens on port ${port}`, targets, ({ length }) => length > 0)
  const socket = new WebSocket(target!.webSocketDebuggerUrl)
  await once(socket, 'open')
  return new Inspector(socket)
}

/**
 * Collects the garbage of a process and its threads. Returns the heap of the main thread in MiB. V8 leaves
 * garbage in place until its own limits, which grow on a machine with much memory.
 */
export const collectGarbage = async (pid: number): Promise<number> => {
  process.kill(pid, 'SIGUSR1')
  const inspector = await open()
  try {
    const { result } = await inspector.call('Runtime.evaluate', { expression: 'process.pid' })
    if ((result as { readonly value?: unknown }).value !== pid)
      throw new Error(`port ${port} belongs to the inspector of another process`)
    await inspector.call('NodeWorker.enable', { waitForDebuggerOnStart: false })
    await sleep(threadsMs)
    // The second collection frees objects that finalizers of the first one released.
    for (const thread of ['', ...inspector.threads, ''])
      await inspector.call('HeapProfiler.collectGarbage', {}, thread)
    const { usedSize } = await inspector.call('Runtime.getHeapUsage')
    return Number(usedSize) / 2 ** 20
  } finally {
    inspector.close()
  }
}
