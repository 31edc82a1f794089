import { documentFiles } from './bad-document-files.ts'
import type { BadFile } from './bad-file.ts'
import { namedFiles } from './bad-named-files.ts'
import { valueFiles } from './bad-value-files.ts'
import { otherFiles, yamlFiles } from './bad-yaml-files.ts'

/** Wrong configurations. The page of configuration errors shows most of them. */
export const badFiles: readonly BadFile[] = [
  ...yamlFiles,
  ...otherFiles,
  ...valueFiles,
  ...namedFiles,
  ...documentFiles,
]
