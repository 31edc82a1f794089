import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { Argument, Command, CommanderError, InvalidArgumentError } from 'commander'
import { ConfigInvalid } from '../../config/faults.ts'
import type { Config } from '../../config/types.ts'
import type { RouteQuery } from '../app/route-test.ts'
import type { ReloadSignal } from '../app/shutdown.ts'

const transports = ['udp', 'tcp', 'tls', 'ws', 'wss'] as const satisfies readonly RouteQuery['transport'][]

/** Exit code for invalid arguments and for an invalid configuration. */
const invalid = 2

/**
 * Runs the command that the arguments name. Resolves with the process's exit code: 0 for success, and 2 for
 * invalid arguments or an invalid configuration. Each command documents its other codes. A command's modules
 * are imported when it runs, because most commands need only a small part of the gateway. `reloading` passes
 * SIGHUP to the `run` command, which then reloads its configuration.
 */
export const runCommand = async (
  reloading: ReloadSignal,
  args: readonly string[] = process.argv.slice(2),
): Promise<number> => {
  let exitCode = 0
  /** Registers a command. `run` executes it and returns the exit code. */
  const command = <Arguments extends unknown[]>(
    definition: Command,
    run: (...given: Arguments) => Promise<number>,
  ): Command =>
    definition.action(async (...given) => {
      exitCode = await run(...(given as unknown as Arguments))
    })

  const program = new Command('trunkline')
    .description('A carrier edge in one daemon: SIP trunks in, programmable calls, browser subscribers out.')
    .exitOverride()
    .addHelpCommand(false)
    .configureHelp({ sortSubcommands: false })

  command(
    program.command('run').description('start the gateway').addArgument(file()),
    async (path: string) => {
      const { runGateway } = await import('./run-command.ts')
      return printingFaults(async () => runGateway(resolve(path), reloading))
    },
  )
  command(
    program
      .command('reload')
      .description('apply a changed configuration to the running gateway')
      .option('--dry-run', 'print what would change, and change nothing')
      .option('--json', 'print the result as JSON')
      .addArgument(file()),
    async (path: string, options: { dryRun?: boolean; json?: boolean }) =>
      (await import('./reload-command.ts')).reloadGateway(path, {
        dryRun: options.dryRun === true,
        json: options.json === true,
      }),
  )
  command(
    program
      .command('check')
      .description('check a configuration, and print its faults and warnings')
      .addArgument(file()),
    async (path: string) => {
      const { checkConfig } = await import('./check-command.ts')
      return withConfig(path, async (config) => checkConfig(path, config))
    },
  )
  command(
    program
      .command('route-test')
      .description('print how the gateway would answer a SIP request, and why')
      .requiredOption('--source <address>', 'IP address that the request comes from', ipAddress)
      .option('--transport <name>', 'udp, tcp, tls, ws or wss', transport, 'udp')
      .option('--method <name>', 'method of the request', 'INVITE')
      .option('--user <name>', 'user name of a caller who signs in with the right password')
      .option('--user-agent <text>', 'User-Agent of the request')
      .option('--json', 'print the result as JSON')
      .argument('<request-uri>', 'SIP or tel URI in the request line')
      .addArgument(file()),
    async (uri: string, path: string, options: Omit<RouteQuery, 'uri'> & { json?: boolean }) => {
      const { routeTest } = await import('./route-test-command.ts')
      const { json = false, method, ...query } = options
      return withConfig(path, async (config) =>
        routeTest(config, { ...query, method: method.toUpperCase(), uri }, json),
      )
    },
  )
  command(
    program
      .command('migrate')
      .description('migrate the store to the version of this release')
      .option('--check', 'print the missing steps, and exit with 1 if there are any')
      .addArgument(file()),
    async (path: string, options: { check?: boolean }) => {
      const { migrateStore } = await import('./migrate-command.ts')
      return withConfig(path, (config) => migrateStore(config, { check: options.check === true }))
    },
  )
  command(
    program
      .command('token')
      .description('print an access token of a subscriber, valid for a day')
      .argument('<subscriber>', 'e-mail address, or /context/name')
      .addArgument(file()),
    async (subscriber: string, path: string) => {
      const { issueToken } = await import('./token-command.ts')
      return withConfig(path, (config) => issueToken(config, subscriber))
    },
  )
  command(
    program
      .command('signing-key')
      .description("print the keys that sign requests to customers' servers")
      .option('--project <id>', 'project of the configuration; default: the first one')
      .addArgument(file()),
    async (path: string, options: { project?: string }) => {
      const { printSigningKeys } = await import('./signing-key-command.ts')
      return withConfig(path, async (config) => printSigningKeys(config, options.project))
    },
  )
  command(
    program.command('push-keys').description('create keys for Web Push, and print them as configuration'),
    async () => (await import('./push-keys-command.ts')).printPushKeys(),
  )

  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? 0 : invalid
  }
}

const ipAddress = (text: string): string => {
  if (isIP(text) === 0) throw new InvalidArgumentError('It must be an IP address.')
  return text
}

const transport = (text: string): RouteQuery['transport'] => {
  const known = transports.find((each) => each === text.toLowerCase())
  if (!known) throw new InvalidArgumentError(`It must be one of ${transports.join(', ')}.`)
  return known
}

const file = (): Argument => new Argument('[file]', 'configuration file').default('trunkline.yaml')

/**
 * Runs a command with the configuration of a file. If the configuration is invalid, prints its faults and
 * resolves with 2.
 */
const withConfig = (path: string, run: (config: Config) => Promise<number>): Promise<number> =>
  printingFaults(async () => {
    const { loadConfig } = await import('../../config/load.ts')
    return run(loadConfig(resolve(path)))
  })

/** Runs a command; if the configuration is invalid, prints its faults and resolves with 2. */
const printingFaults = async (run: () => Promise<number>): Promise<number> => {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error
    process.stderr.write(`${error.message}\n`)
    return invalid
  }
}
