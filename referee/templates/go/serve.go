package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	v1 "bot/treelings/v1"
)

// Player plays one game.
type Player interface {
	Choose(query *v1.Query) string
}

type server struct {
	v1.UnimplementedBotServer
	newPlayer func(start *v1.Start) Player
}

// Play is one game, from its Start to its End.
func (s *server) Play(stream v1.Bot_PlayServer) error {
	var player Player
	for {
		message, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		answer := &v1.BotMessage{}
		if start := message.GetStart(); start != nil && player == nil {
			player = s.newPlayer(start)
			answer.Message = &v1.BotMessage_Ready{Ready: &v1.Ready{Protocol: 1}}
		} else if query := message.GetQuery(); query != nil && player != nil {
			answer.Message = &v1.BotMessage_Reply{Reply: &v1.Reply{Turn: query.Turn, Move: player.Choose(query)}}
		} else if message.GetEnd() != nil {
			continue // nothing answers it
		} else {
			return status.Error(codes.InvalidArgument, "expected a start, then queries and an end")
		}
		if err := stream.Send(answer); err != nil {
			return err
		}
	}
}

// serve answers the referee until the process is ended.
func serve(newPlayer func(start *v1.Start) Player) {
	socket, listen := os.Getenv("TREELINGS_SOCKET"), os.Getenv("TREELINGS_LISTEN")
	network, address := "unix", socket
	if listen != "" {
		network, address = "tcp", listen
	} else if socket == "" {
		fmt.Fprintln(os.Stderr, "this is run by the referee; to try it: treelings match FOLDER random")
		os.Exit(1)
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		log.Fatal(err)
	}
	if network == "unix" { // the referee may be another user
		if err := os.Chmod(socket, 0o666); err != nil {
			log.Fatal(err)
		}
	}
	grpcServer := grpc.NewServer(
		// No pings, which windows of a fixed size do without: held before it has read the answer, a bot would take the
		// referee for gone.
		grpc.InitialWindowSize(1<<16), grpc.InitialConnWindowSize(1<<16),
	)
	v1.RegisterBotServer(grpcServer, &server{newPlayer: newPlayer})
	log.Fatal(grpcServer.Serve(listener))
}
