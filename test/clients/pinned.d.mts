interface Client {
  package: string
  version: string
}
export const CLIENTS: { claude: Client }
export function folderOf(client: Client): string
