/**
 * Entry point of a composing process: receives commands over IPC, and writes packets to a pipe. It decodes
 * what strangers send. It therefore gets no environment, no files and no secrets.
 */
import { Socket } from 'node:net'
import { setPriority } from 'node:os'
import { systemClock } from '../clock.ts'
import { openSockets, socketKind } from '../edge/sockets-open.ts'
import { type ComposerReport, readCommand } from './composer-protocol.ts'
import { ComposerServer } from './composer-server.ts'
import { loadPictures } from './pictures.ts'

/** File descriptor of the pipe to the gateway. */
const outputDescriptor = 4
/** Resident memory at which the process ends itself, in bytes: a leak must not harm the gateway. */
const maxMemory = 1024 * 2 ** 20

const [niceness = '0'] = process.argv.slice(2)
setPriority(Number(niceness))
process.title = 'trunkline-composer'
// Ctrl+C and service managers signal the whole group. The gateway ends this process after its calls.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

const total = ({ user, system }: NodeJS.CpuUsage): number => user + system

const report = (message: ComposerReport): void => {
  if (message.op === 'usage' && process.memoryUsage.rss() > maxMemory)
    throw new Error(`more than ${maxMemory / 2 ** 20} MiB of memory are used`)
  process.send?.(message)
}

const output = new Socket({ fd: outputDescriptor, readable: false, writable: true })
// The gateway has closed its end.
output.on('error', () => process.exit(0))

const server = new ComposerServer({
  addon: loadPictures(),
  clock: systemClock,
  bind: openSockets(socketKind().kind).bind,
  report,
  output,
  threadTime: () => total(process.threadCpuUsage()),
  processTime: () => total(process.cpuUsage()),
})
process.on('message', (message) => {
  const command = readCommand(message)
  if (command.op === 'end') {
    void server.end().then(() => process.exit(0))
    return
  }
  // A rejection is a defect. It is not handled, so that it ends the process; the gateway reports that.
  void server.run(command)
})
process.on('disconnect', () => process.exit(0))
report({ op: 'ready' })
