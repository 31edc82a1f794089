/** `scripts/document`: writes the pages of `docs/` that are made from the code. */
import { writeFileSync } from 'node:fs'
import { pages } from './pages.ts'

for (const [name, page] of Object.entries(pages))
  writeFileSync(new URL(`../../docs/${name}`, import.meta.url), await page())
