/** Entry point of the process: handles SIGHUP from the start, and sets the exit code. */
import { ReloadSignal } from './app/shutdown.ts'

const isGateway = process.argv[2] === 'run'
const reloading = new ReloadSignal()
// Comes first: loading the rest takes a second, in which SIGHUP would end a gateway that starts.
if (isGateway) process.on('SIGHUP', () => reloading.signal())

/** Exit code of a process that writes to a closed pipe: 128 and the number of SIGPIPE. */
const pipeClosed = 141

for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // The gateway goes on without a reader. A command has nothing left to do, as after `| head`.
    if (isGateway) return
    if (error.code === 'EPIPE') process.exit(pipeClosed)
    void fail(error)
  })

const fail = async (error: unknown): Promise<void> => {
  const { errorLine } = await import('./cli/error-line.ts')
  process.stderr.write(`${errorLine(error)}\n`)
  process.exit(1)
}

import('./cli/command-line.ts')
  .then(({ runCommand }) => runCommand(reloading))
  // An error of the output is reported before the process ends.
  .then((code) => setImmediate(() => process.exit(code)), fail)
