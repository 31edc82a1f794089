import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { dirname, resolve } from 'node:path'
import { Passwords } from '../../directory/writing/passwords.ts'
import { openTerminal, type Terminal } from '../terminal.ts'
import { invalid } from '../with-config.ts'
import { type FirstConfig, firstConfigText, firstProject } from './first-config.ts'
import { AnswerInvalid, collectAnswers, type InitAnswers, type InitOptions } from './init-answers.ts'
import { freePort, localAddresses, ownAddress } from './this-machine.ts'

/** Options of `trunkline init`. */
export interface InitCommandOptions extends InitOptions {
  readonly apiTokenVariable: string | undefined
  /** Value of the key `dataDir`; undefined selects {@link usualDataDir}. */
  readonly dataDir: string | undefined
  readonly yes: boolean
  readonly force: boolean
  readonly json: boolean
}

/** Usual ports. A port in use is replaced by the next free one. */
const usualPorts = { sip: 5060, plain: 8080, tls: 8443, media: 44_444 } as const

/**
 * `trunkline init`: writes a first configuration, and prints its secrets and the next commands. Returns the
 * exit code. `terminal` is undefined if the standard input is none.
 */
export const writeFirstConfig = async (
  file: string,
  options: InitCommandOptions,
  terminal: Pick<Terminal, 'ask'> | undefined = process.stdin.isTTY ? openTerminal() : undefined,
): Promise<number> => {
  const { yes, json, force, apiTokenVariable } = options
  const path = resolve(file)
  if (isFolder(path)) return refuse(`${file} is a folder. Name a file in it.`, 1)
  if (existsSync(path) && !force) return refuse(`${file} exists. Name another file, or use --force.`, 1)
  const isAsking = !yes && !json
  if (isAsking && !terminal)
    return refuse('The standard input is no terminal. Use --yes, and give values as options.', invalid)
  if (apiTokenVariable !== undefined && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(apiTokenVariable))
    return refuse("option '--api-token-variable' must be the name of an environment variable", invalid)
  let answers: InitAnswers
  try {
    answers = await collectAnswers(options, ownAddress(), isAsking ? terminal : undefined)
  } catch (error) {
    if (!(error instanceof AnswerInvalid)) throw error
    return refuse(error.message, invalid)
  }
  const password = randomBytes(15).toString('base64url')
  const config: FirstConfig = {
    ...answers,
    dataDir: options.dataDir ?? usualDataDir(path),
    isHostLocal: localAddresses().includes(answers.host),
    passwordHash: await new Passwords().hash(password),
    apiToken:
      apiTokenVariable === undefined ? randomBytes(24).toString('base64url') : `\${${apiTokenVariable}}`,
    ports: await freePorts(),
  }
  const isPrivate = write(path, firstConfigText(config), force)
  const readers = isPrivate ? 'Only you can read it.' : 'It keeps the readers that it had.'
  process.stdout.write(
    json ? `${jsonReport(path, config, password)}\n` : report(file, readers, config, password),
  )
  return 0
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

/** Returns the data folder for a new file: that of the packages for a file in their folder. */
const usualDataDir = (file: string): string =>
  dirname(file) === '/etc/trunkline' ? '/var/lib/trunkline' : './data'

const refuse = (reason: string, code: number): number => {
  process.stderr.write(`trunkline: ${reason}\n`)
  return code
}

const freePorts = async (): Promise<FirstConfig['ports']> => ({
  sip: await freePort(usualPorts.sip, ['udp', 'tcp']),
  plain: await freePort(usualPorts.plain, ['tcp']),
  tls: await freePort(usualPorts.tls, ['tcp']),
  media: await freePort(usualPorts.media, ['udp', 'tcp']),
})

/**
 * Writes a configuration, which has a token. A file that is replaced keeps its owner, group and mode, so that
 * the user of an installed gateway still reads it. A new file is private. Without `force`, throws if the file
 * exists. Returns whether the file is private.
 */
const write = (path: string, text: string, force: boolean): boolean => {
  const former = existsSync(path) ? statSync(path) : undefined
  if (!former || !force) {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
    return true
  }
  const fresh = `${path}.${process.pid}.new`
  try {
    writeFileSync(fresh, text, { mode: 0o600, flag: 'wx' })
    chownSync(fresh, former.uid, former.gid)
    // Others than the owner and its group need no access to a file with a token.
    const mode = former.mode & 0o660
    chmodSync(fresh, mode)
    renameSync(fresh, path)
    return (mode & 0o060) === 0
  } finally {
    rmSync(fresh, { force: true })
  }
}

const jsonReport = (
  file: string,
  { email, apiToken, domain, ports }: FirstConfig,
  password: string,
): string =>
  JSON.stringify({
    file,
    domain,
    ports,
    sign_in: { email, password },
    api: { user: firstProject, ...(apiToken.startsWith('$') ? {} : { token: apiToken }) },
  })

const report = (
  file: string,
  readers: string,
  { email, apiToken, domain, ports }: FirstConfig,
  password: string,
): string => {
  const changed = Object.entries(usualPorts)
    .filter(([name, port]) => ports[name as keyof typeof usualPorts] !== port)
    .map(([name, port]) => `Port ${port} is in use: the file has ${ports[name as keyof typeof usualPorts]}.`)
  const api = apiToken.startsWith('$') ? `in the environment variable ${apiToken.slice(2, -1)}` : apiToken
  const host = isIP(domain) === 6 ? `[${domain}]` : domain
  return [
    `${file} is written. ${readers}`,
    ...changed,
    '',
    `  Sign in as   ${email}`,
    `  Password     ${password}   (shown only now; the file has its hash)`,
    `  API          user ${firstProject}, token ${api}`,
    `  Call         sip:anyone@${host}${ports.sip === 5060 ? '' : `:${ports.sip}`}`,
    '',
    'Next:',
    ...nextCommands(file, existsSync('/run/systemd/system')).map((command) => `  ${command}`),
    '',
  ].join('\n')
}

/**
 * Returns the commands that check a new file and start the gateway. The package's service runs the gateway of
 * a file in `/etc/trunkline`: another start by root would leave files that the service's user cannot read.
 */
export const nextCommands = (file: string, hasSystemd: boolean): readonly string[] => [
  `trunkline check ${file}`,
  hasSystemd && dirname(file) === '/etc/trunkline'
    ? 'systemctl enable --now trunkline'
    : `trunkline run ${file}`,
]
