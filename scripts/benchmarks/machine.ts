/** Description of the measured machine. */
import { readFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'

const worker = (): string => {
  const path = process.env.MEDIASOUP_WORKER_BIN ?? ''
  if (path === '') return "the package's own"
  return path.includes('-prebuilt-') ? 'prebuilt' : 'built here against the system libraries'
}

/** Returns one line: processor, cores, memory, kernel, Node, worker, and the load before the measurement. */
export const machine = (): string => {
  const mediasoup = JSON.parse(
    readFileSync(new URL('../../node_modules/mediasoup/package.json', import.meta.url), 'utf8'),
  )
  return [
    `${cpus()[0]?.model.trim()}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    `Linux ${release()}, Node ${process.versions.node}`,
    `mediasoup ${mediasoup.version}, worker ${worker()}`,
    `load ${loadavg()[0]?.toFixed(2)} before`,
  ].join('; ')
}
