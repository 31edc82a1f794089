import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { DocumentPlaces } from '../../config/document-places.ts'
import { ConfigInvalid, loadConfig, readConfig } from '../../config/load.ts'
import type { Config } from '../../config/types.ts'
import { socketKind } from '../../media/edge/sockets-open.ts'
import { checkDocuments, checkSettings, describeSockets } from '../app/config-check.ts'
import type { Reloading } from '../app/stopping.ts'
import { migrateStore } from './migrate-command.ts'
import { printPushKeys } from './push-keys-command.ts'
import { reloadGateway } from './reload-command.ts'
import { routeTest } from './route-test-command.ts'
import { runGateway } from './run-command.ts'
import { printSigningKeys } from './signing-key-command.ts'
import { issueToken } from './token-command.ts'

const text = { type: 'string' } as const

const usage = `Usage:
  trunkline run [file]                  start the gateway (default file: trunkline.yaml)
  trunkline reload [--dry-run] [--json] [file]
                                        have the running gateway take a changed configuration over; --dry-run: say what would change
  trunkline check [file]                check a configuration and print what is wrong with it
  trunkline route-test --source <address> [--transport udp] [--method INVITE] [--user name] [--user-agent text] [--json] <request-uri> [file]
                                        say what would happen to a SIP request, and why
  trunkline migrate [--check] [file]    bring the store to the present version; --check: say what would be done
  trunkline token <subscriber> [file]   print an access token for a subscriber (e-mail or /context/name)
  trunkline signing-key [--project id] [file]
                                        print the keys that sign what customers' servers are sent
  trunkline push-keys                   make keys for Web Push, and print them as the configuration has them
`

/** Reads the configuration; prints every fault and returns undefined when it has any. */
const configOf = (file: string): Config | undefined => orFaults(() => loadConfig(resolve(file)))

const orFaults = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error
    process.stderr.write(`${error.message}\n`)
    return undefined
  }
}

const run = async (name: string, reloading: Reloading): Promise<number> => {
  const file = resolve(name)
  const started = orFaults(() => readConfig(file))
  if (!started) return 2
  const places = new DocumentPlaces(file)
  const warnings = {
    documents: checkDocuments(started.config, places).lines,
    settings: checkSettings(started.config, places),
  }
  return runGateway({ file, started, warnings }, reloading)
}

const check = (file: string): number => {
  const config = configOf(file)
  if (!config) return 2
  const places = new DocumentPlaces(resolve(file))
  const documents = checkDocuments(config, places)
  for (const line of [...documents.lines, ...checkSettings(config, places)]) process.stderr.write(`${line}\n`)
  if (!documents.valid) return 2
  process.stdout.write(
    `${describeSockets(socketKind())}\n${file} is valid: ${config.domains.length} domains, ${config.subscribers.length} subscribers.\n`,
  )
  return 0
}

/** Does what the arguments say. Returns the exit code; rejects for arguments that are not known. */
export const runCommand = async (reloading: Reloading): Promise<number> => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      json: { type: 'boolean' },
      check: { type: 'boolean' },
      'dry-run': { type: 'boolean' },
      source: text,
      transport: text,
      method: text,
      user: text,
      'user-agent': text,
      project: text,
    },
  })
  const [command, ...rest] = positionals
  if (values.help || command === undefined) {
    process.stdout.write(usage)
    return values.help ? 0 : 2
  }
  if (command === 'run') return run(rest[0] ?? 'trunkline.yaml', reloading)
  if (command === 'check') return check(rest[0] ?? 'trunkline.yaml')
  if (command === 'reload') {
    const options = { dryRun: values['dry-run'] === true, json: values.json === true }
    return reloadGateway(rest[0] ?? 'trunkline.yaml', options)
  }
  if (command === 'route-test') return routeTest(values, rest, configOf)
  if (command === 'migrate') {
    const config = configOf(rest[0] ?? 'trunkline.yaml')
    return config ? migrateStore(config, { check: values.check === true }) : 2
  }
  if (command === 'token' && rest[0]) {
    const config = configOf(rest[1] ?? 'trunkline.yaml')
    return config ? issueToken(config, rest[0]) : 2
  }
  if (command === 'signing-key') {
    const config = configOf(rest[0] ?? 'trunkline.yaml')
    return config ? printSigningKeys(config, values.project) : 2
  }
  if (command === 'push-keys') return printPushKeys()
  process.stderr.write(usage)
  return 2
}
