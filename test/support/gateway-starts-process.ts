/**
 * Program of `GatewayStarts`: runs `trunkline run` with each file that standard input names, one after
 * another, and reports each exit code. An empty line ends it.
 */
import { createInterface } from 'node:readline'
import { ReloadSignal } from '../../gateway/app/shutdown.ts'
import { runCommand } from '../../gateway/cli/command-line.ts'
import { errorLine } from '../../gateway/cli/error-line.ts'

/** Prints an error and returns the exit code, as the gateway's entry point does. */
const failed = (error: unknown): number => {
  process.stderr.write(`${errorLine(error)}\n`)
  return 1
}

for await (const file of createInterface({ input: process.stdin })) {
  if (file === '') process.exit()
  const code = await runCommand(new ReloadSignal(), ['run', file]).catch(failed)
  process.stderr.write(`exit code ${code}\n`)
}
