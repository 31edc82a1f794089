/** The worker that the package's publisher built. */
import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { release } from 'node:os'
import { basename, join } from 'node:path'
import { type Candidate, prebuiltName, starts, temporaryFolder } from './cache.ts'
import { checkPin, type Pins, readPins } from './pins.ts'

/** Longest wait for the server's first word, and for the whole file (about 10 MB). */
const answerMs = 10_000
const transferMs = 120_000

/** The release page that the package names, or the one in `MEDIASOUP_WORKER_PREBUILT_DOWNLOAD_BASE_URL`. */
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
  const giveUp = new AbortController()
  const answerTimer = setTimeout(() => giveUp.abort(new Error('no answer')), answerMs)
  const response = await fetch(address, {
    signal: AbortSignal.any([giveUp.signal, AbortSignal.timeout(transferMs)]),
  })
  clearTimeout(answerTimer)
  if (!response.ok) throw new Error(`HTTP status ${response.status}`)
  return Buffer.from(await response.arrayBuffer())
}

/**
 * Downloads and unpacks the prebuilt worker; undefined, with a word said, if it cannot be downloaded, has not the pinned hash or does not run
 * here. Nothing of an archive is unpacked before its hash is checked.
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
