/** For `node --import`: prints `loaded URL` as an error for each module that is not of Node. */
import { writeSync } from 'node:fs'
import { registerHooks } from 'node:module'

registerHooks({
  load: (url, context, nextLoad) => {
    if (!url.startsWith('node:')) writeSync(2, `loaded ${url}\n`)
    return nextLoad(url, context)
  },
})
