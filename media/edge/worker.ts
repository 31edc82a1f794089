/** Entry point of a media thread: receives commands and sends reports. Packets do not leave the thread. */
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../clock.ts'
import { loadCodecs } from '../codecs/codecs.ts'
import { Engine } from './engine.ts'
import type { Command, EndCommand, Report } from './protocol.ts'
import { enterRealtime } from './realtime.ts'
import { openSockets } from './sockets-open.ts'
import type { ThreadData } from './thread.ts'

const main = parentPort
if (!main) throw new Error('media/edge/worker.ts must run as a worker thread')

const { sockets, isRealtime } = workerData as ThreadData
const engine = new Engine({
  clock: systemClock,
  bind: openSockets(sockets).bind,
  codecs: await loadCodecs(),
  report: (report) => main.postMessage(report, moved(report)),
  random: Math.random,
})
main.on('message', (command: Command | EndCommand) => {
  if (command.op === 'end') {
    engine.end()
    main.close()
    return
  }
  // A rejection is a defect. It is not handled, so that it ends the thread; the main thread reports that.
  void engine.run(command)
})

// Loading the modules took long. From now on, the thread needs the CPU for short moments only.
if (isRealtime) main.postMessage({ op: 'priority', priority: enterRealtime() } satisfies Report)

/** Returns the buffers of a report that are transferred rather than copied. */
function moved(report: Report): ArrayBuffer[] {
  return report.op === 'frame' ? [report.frame.samples.buffer as ArrayBuffer] : []
}
