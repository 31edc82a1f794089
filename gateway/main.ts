/** Entry point of the process: handles SIGHUP from the start, and sets the exit code. */
import { ReloadSignal } from './app/shutdown.ts'

const reloading = new ReloadSignal()
// Comes first: loading the rest takes a second, in which SIGHUP would end a gateway that starts.
if (process.argv[2] === 'run') process.on('SIGHUP', () => reloading.signal())

import('./cli/command-line.ts')
  .then(({ runCommand }) => runCommand(reloading))
  .then(
    (code) => process.exit(code),
    (error: unknown) => {
      process.stderr.write(`trunkline: ${error instanceof Error ? error.message : String(error)}\n`)
      process.exit(1)
    },
  )
