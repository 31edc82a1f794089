import { EventEmitter } from 'node:events'
import { performance } from 'node:perf_hooks'
import { MessageChannel } from 'node:worker_threads'
import type { AgentThread } from '../index.ts'
import { type AgentData, serveAgent } from '../serve.ts'

/**
 * Starts an agent in the test's own thread, for tests of anything but its thread. All messages are copied as
 * between threads. Starting a thread takes some hundred times as long as starting an agent.
 */
export const sameThread = (data: AgentData): AgentThread => {
  const { port1, port2 } = new MessageChannel()
  const events = new EventEmitter()
  port1.on('message', (message) => events.emit('message', message))
  port1.on('close', () => events.emit('exit', 0))
  serveAgent(port2, structuredClone(data))
  const thread = {
    on: (event: string, listener: (...told: unknown[]) => void) => events.on(event, listener),
    once: (event: string, listener: (...told: unknown[]) => void) => events.once(event, listener),
    off: (event: string, listener: (...told: unknown[]) => void) => events.off(event, listener),
    postMessage: (message: unknown) => port1.postMessage(message),
    terminate: () => port1.close(),
    performance,
  }
  return thread as AgentThread
}
