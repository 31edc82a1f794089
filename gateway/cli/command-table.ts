import type { Command } from './command.ts'
import { agentTest } from './commands/agent-test.ts'
import { backup } from './commands/backup.ts'
import { check } from './commands/check.ts'
import { completion } from './commands/completion.ts'
import { drain } from './commands/drain.ts'
import { engines } from './commands/engines.ts'
import { hangup } from './commands/hangup.ts'
import { hashPassword } from './commands/hash-password.ts'
import { help } from './commands/help.ts'
import { init } from './commands/init.ts'
import { calls } from './commands/list-calls.ts'
import { migrate } from './commands/migrate.ts'
import { printConfig } from './commands/print-config.ts'
import { pushKeys } from './commands/push-keys.ts'
import { refusals } from './commands/refusals.ts'
import { reload } from './commands/reload.ts'
import { restore } from './commands/restore.ts'
import { routeTest } from './commands/route-test.ts'
import { run } from './commands/run.ts'
import { signingKey } from './commands/signing-key.ts'
import { status } from './commands/status.ts'
import { token } from './commands/token.ts'
import { trace } from './commands/trace.ts'
import { version } from './commands/version.ts'

/** Every command of `trunkline`, in the order of the help within each group. */
export const commands: readonly Command[] = [
  init,
  run,
  engines,
  check,
  printConfig,
  routeTest,
  agentTest,
  status,
  calls,
  trace,
  refusals,
  reload,
  hangup,
  drain,
  migrate,
  backup,
  restore,
  token,
  signingKey,
  pushKeys,
  hashPassword,
  completion,
  version,
  help,
]
