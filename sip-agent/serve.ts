import { Agent } from './agent.ts'
import { SystemClock } from './clock.ts'
import type { Diversion } from './core/diversions.ts'
import type { OwnRefusal } from './core/own-refusals.ts'
import { TimerWheel } from './timer-wheel.ts'
import type { FromWorker, SipAgentChange, SipAgentOptions, ToWorker } from './types.ts'

/** Data for the start of an agent's thread. */
export interface AgentData {
  readonly options: SipAgentOptions
  readonly secret: string
}

/** Channel to the starter of the agent: the MessagePort of `node:worker_threads`. */
export interface AgentPort {
  on(event: 'message', listener: (asked: ToWorker) => void): unknown
  postMessage(message: FromWorker): void
  close(): void
}

/** Runs an agent until it receives `close`, and then closes the port. */
export const serveAgent = (port: AgentPort, { options, secret }: AgentData): void => {
  const tell = (message: FromWorker) => port.postMessage(message)
  const fault = (error: unknown) =>
    tell({ kind: 'fault', problem: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  const refused = (refusal: OwnRefusal) => tell({ kind: 'refused', refusal })
  const diverted = (diversion: Diversion) => tell({ kind: 'diverted', diversion })
  const clock = new TimerWheel(new SystemClock(), fault)
  const agent = new Agent({ ...options, secret, clock, fault, refused, diverted })

  /** Applies new settings. Invalid settings change nothing and end no calls. */
  const change = (asked: SipAgentChange) => {
    try {
      agent.change(asked)
    } catch (error) {
      fault(error)
    }
  }

  /** Closes the agent. The thread ends by itself when nothing is open. */
  const end = () => {
    agent
      .close()
      .catch(fault)
      .finally(() => port.close())
  }

  port.on('message', (asked) => {
    if (asked.kind === 'stats') return tell({ kind: 'stats', stats: agent.stats })
    if (asked.kind === 'change') return change(asked.change)
    if (asked.kind === 'trace') return tell({ kind: 'traced', messages: agent.trace(asked.callIds) })
    if (asked.kind === 'failed-sign-in') return agent.failedSignIn(asked.address)
    end()
  })

  agent.start(options.listen).then(
    (bound) => tell({ kind: 'ready', port: bound, addresses: agent.addresses }),
    (error: Error) => {
      tell({ kind: 'failed', problem: error.message })
      end()
    },
  )
}
