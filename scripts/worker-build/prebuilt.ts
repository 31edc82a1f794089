/** Worker built by the package's publisher. */
import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { release } from 'node:os'
import { basename, join } from 'node:path'
import { type Candidate, prebuiltName, starts, temporaryFolder } from './cache.ts'
import { checkPin, type Pins, readPins } from './pins.ts'

/** Maximum wait for the response and for the whole file (about 10 MB), in ms. */
const answerMs = 10_000
const transferMs = 120_000

/** Returns the URL of the archive on the package's release page or the configured mirror. */
const addressOf = (packageFolder: string, version: string): string => {
  const { repository } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'))
  const base =
    process.env.MEDIASOUP_WORKER_PREBUILT_DOWNLOAD_BASE_URL ||
    `${String(repository.url)
      .replace(/^git\+/, '')
      .replace(/\.git$/, '')}/releases/download`
  const kernel = process.platform === 'linux' ? `-kernel${release().split('.')[0]}` : ''
  return `${base}/${version}/mediasoup-worker-${version}-${process.platform}-${process.arch}${kernel}.tgz`
}

const fetchArchive = async (address: string): Promise<Buffer> => {
  const abort = new AbortController()
  const answerTimer = setTimeout(() => abort.abort(new Error('no answer')), answerMs)
  const response = await fetch(address, {
    signal: AbortSignal.any([abort.signal, AbortSignal.timeout(transferMs)]),
  })
  clearTimeout(answerTimer)
  if (!response.ok) throw new Error(`HTTP status ${response.status}`)
  return Buffer.from(await response.arrayBuffer())
}

/**
 * Downloads the prebuilt worker, checks its hash, and unpacks it. Returns undefined, after a message, if the
 * download fails, the hash differs or the worker does not run.
 */
export const download = async (
  packageFolder: string,
  version: string,
  say: (text: string) => void,
  pins: Pins = readPins(),
): Promise<Candidate | undefined> => {
  if (process.env.MEDIASOUP_SKIP_WORKER_PREBUILT_DOWNLOAD) return undefined
  const folder = temporaryFolder()
  try {
    say(`downloading the prebuilt worker ${version}`)
    const archive = join(folder, 'worker.tgz')
    const address = addressOf(packageFolder, version)
    const bytes = await fetchArchive(address)
    checkPin(basename(new URL(address).pathname), bytes, pins)
    writeFileSync(archive, bytes)
    const unpacked = spawnSync('tar', ['-xzf', archive, '-C', folder, 'mediasoup-worker'], {
      encoding: 'utf8',
    })
    if (unpacked.status !== 0) throw new Error(`cannot unpack it: ${unpacked.stderr.trim()}`)
    rmSync(archive)
    const binary = join(folder, 'mediasoup-worker')
    chmodSync(binary, 0o755)
    if (!starts(binary)) throw new Error('it does not run on this system')
    return { folder, binary, name: prebuiltName(version) }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    const reason =
      error instanceof Error ? ((error.cause as Error | undefined)?.message ?? error.message) : String(error)
    say(`no prebuilt worker (${reason}); building one from the package's source instead`)
    return undefined
  }
}
