/** Writes the folder of an installed gateway: `node scripts/installation/main.ts FOLDER WORKER [NODE]`. */
import { copyInstallation } from './tree.ts'

const [folder, worker, node] = process.argv.slice(2)
if (folder === undefined || worker === undefined) {
  process.stderr.write('usage: node scripts/installation/main.ts FOLDER WORKER [NODE]\n')
  process.exit(2)
}
copyInstallation(folder, { worker, ...(node !== undefined && { node }) })
