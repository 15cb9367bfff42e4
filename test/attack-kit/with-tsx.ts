// How drivers written in TypeScript are started, with the package from its sources.

export const WITH_TSX = ["--no-warnings", "--import", "tsx", "--conditions=agent-adapter-source"];
