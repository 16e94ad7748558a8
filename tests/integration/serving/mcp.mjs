// MCP's client in JavaScript asks the server, and holds answers to the schema that it tells; gives them as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, question] = process.argv.slice(2);
const client = new Client({ name: "test", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const tools = (await client.listTools()).tools.map(({ name }) => name);
const { structuredContent } = await client.callTool({ name: "ask", arguments: { question } });
const { content } = await client.callTool({ name: "find_entities", arguments: { name: "Ada" } });
const { isError } = await client.callTool({ name: "ask", arguments: { nothing: 1 } });
console.log(JSON.stringify({ tools, answers: structuredContent.answers, text: content[0].text, isError }));
await client.close();
