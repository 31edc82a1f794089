import { randomBytes } from 'node:crypto'
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { Passwords } from '../../directory/writing/passwords.ts'
import { openTerminal, type Terminal } from '../terminal.ts'
import { invalid } from '../with-config.ts'
import { type FirstConfig, firstConfigText, firstProject } from './first-config.ts'
import { AnswerInvalid, collectAnswers, type InitAnswers, type InitOptions } from './init-answers.ts'
import { freePort, localAddresses, ownAddress } from './this-machine.ts'

/** Options of `trunkline init`. */
export interface InitCommandOptions extends InitOptions {
  readonly apiTokenVariable: string | undefined
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
    isHostLocal: localAddresses().includes(answers.host),
    passwordHash: await new Passwords().hash(password),
    apiToken:
      apiTokenVariable === undefined ? randomBytes(24).toString('base64url') : `\${${apiTokenVariable}}`,
    ports: await freePorts(),
  }
  writePrivately(path, firstConfigText(config), force)
  process.stdout.write(json ? `${jsonReport(path, config, password)}\n` : report(file, config, password))
  return 0
}

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

/** Writes a file that only its user can read. Without `force`, throws if the file exists. */
const writePrivately = (path: string, text: string, force: boolean): void => {
  if (!force) {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
    return
  }
  // A new file replaces the old one, whose mode and readers would otherwise stay.
  const fresh = `${path}.${process.pid}.new`
  try {
    writeFileSync(fresh, text, { mode: 0o600, flag: 'wx' })
    renameSync(fresh, path)
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

const report = (file: string, { email, apiToken, domain, ports }: FirstConfig, password: string): string => {
  const changed = Object.entries(usualPorts)
    .filter(([name, port]) => ports[name as keyof typeof usualPorts] !== port)
    .map(([name, port]) => `Port ${port} is in use: the file has ${ports[name as keyof typeof usualPorts]}.`)
  const api = apiToken.startsWith('$') ? `in the environment variable ${apiToken.slice(2, -1)}` : apiToken
  const host = isIP(domain) === 6 ? `[${domain}]` : domain
  return [
    `${file} is written. Only you can read it.`,
    ...changed,
    '',
    `  Sign in as   ${email}`,
    `  Password     ${password}   (shown only now; the file has its hash)`,
    `  API          user ${firstProject}, token ${api}`,
    `  Call         sip:anyone@${host}${ports.sip === 5060 ? '' : `:${ports.sip}`}`,
    '',
    'Next:',
    `  trunkline check ${file}`,
    `  trunkline run ${file}`,
    '',
  ].join('\n')
}
